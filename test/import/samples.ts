/** Three queue folders in the shape of real ones (`folders/README.md`). */
import { fileURLToPath } from 'node:url'

export const folder = (name: 'sentinel' | 'bhengu' | 'ralph2'): string => fileURLToPath(new URL(`folders/${name}`, import.meta.url))
