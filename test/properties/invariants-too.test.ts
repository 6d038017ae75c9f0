/** The second half of the random histories, in its own process. */
import { holdInvariants } from './hold-invariants.js'

holdInvariants('second')
