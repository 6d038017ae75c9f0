/** The hashes that chain the events of a log: made with each append, and read again. What checks them is in `chain/`. */
export { Chain, lastSealIn } from './chain.js'
export { leafOf } from './leaf.js'
export { readSeal, type Seal, sealBytesMax, sealHash, withSeal } from './seal.js'
export { sealed, sealingHere } from './sealing.js'
