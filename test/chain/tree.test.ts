/** The Merkle tree of RFC 9162, against its own definition and against the test vectors of Certificate Transparency. */
import crypto from 'node:crypto'
import { consistencyRanges, inclusionRanges, interior, RangeRoots, Tree, verifyConsistency, verifyInclusion } from '@daybook/adapters/chain'
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { runs } from '../properties/settings.js'

const leafHash = (bytes: Buffer): Buffer => crypto.createHash('sha256').update(Buffer.of(0)).update(bytes).digest()
const leavesOf = (count: number): ReadonlyArray<Buffer> => Array.from({ length: count }, (_, i) => leafHash(Buffer.from(`leaf ${i}`)))
const treeOf = (leaves: ReadonlyArray<Buffer>): Tree => {
  const tree = new Tree()
  for (const leaf of leaves) tree.add(leaf.toString('base64url'))
  return tree
}
const rootsOf = (ranges: ConstructorParameters<typeof RangeRoots>[0], leaves: ReadonlyArray<Buffer>): ReadonlyArray<Buffer> => {
  const roots = new RangeRoots(ranges)
  for (const leaf of leaves) roots.add(leaf.toString('base64url'))
  return roots.roots()
}

/** 2.1.1, word for word. */
const rootByDefinition = (leaves: ReadonlyArray<Buffer>): Buffer => {
  if (leaves.length === 0) return crypto.createHash('sha256').digest()
  if (leaves.length === 1) return leaves[0]!
  let k = 1
  while (2 * k < leaves.length) k *= 2
  return interior(rootByDefinition(leaves.slice(0, k)), rootByDefinition(leaves.slice(k)))
}

/** The leaves and roots with which the implementations of Certificate Transparency are tested. */
const inputs = ['', '00', '10', '2021', '3031', '40414243', '5051525354555657', '606162636465666768696a6b6c6d6e6f'].map((hex) => leafHash(Buffer.from(hex, 'hex')))
const roots = [
  '6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d',
  'fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125',
  'aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77',
  'd37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7',
  '4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4',
  '76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef',
  'ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c',
  '5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328',
]

test('EV-07: the roots of the test vectors of Certificate Transparency', () => {
  expect(new Tree().root().toString('hex')).toBe('e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855')
  roots.forEach((root, index) => expect(treeOf(inputs.slice(0, index + 1)).root().toString('hex')).toBe(root))
})

test('EV-07: the proofs of the test vectors of Certificate Transparency', () => {
  const hex = (hashes: ReadonlyArray<Buffer>): ReadonlyArray<string> => hashes.map((hash) => hash.toString('hex'))
  expect(hex(rootsOf(inclusionRanges(0, 8), inputs))).toEqual([
    '96a296d224f285c67bee93c30f8a309157f0daa35dc5b87e410b78630a09cfc7',
    '5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e',
    '6b47aaf29ee3c2af9af889bc1fb9254dabd31177f16232dd6aab035ca39bf6e4',
  ])
  expect(hex(rootsOf(consistencyRanges(6, 8), inputs))).toEqual([
    '0ebc5d3437fbe2db158b9f126a1d118e308181031d0a949f8dededebc558ef6a',
    'ca854ea128ed050b41b35ffc1b87b8eb2bde461e9e3b5596ece6b9d5975a0ae0',
    'd37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7',
  ])
})

test('EV-07: a tree that grows has the root by definition, also when it goes on from its subtrees', () => {
  for (let size = 0; size <= 70; size++) {
    const leaves = leavesOf(size)
    const tree = treeOf(leaves)
    expect(tree.root().equals(rootByDefinition(leaves))).toBe(true)
    const again = new Tree(tree.size, tree.subtrees)
    again.add(leafHash(Buffer.from('one more')).toString('base64url'))
    expect(again.root().equals(rootByDefinition([...leaves, leafHash(Buffer.from('one more'))]))).toBe(true)
  }
  expect(() => new Tree(3, [Buffer.alloc(32)])).toThrow('2 complete subtrees')
  expect(() => new Tree(2, [Buffer.alloc(31)])).toThrow('32 bytes')
})

const mangled = (proof: ReadonlyArray<Buffer>, pick: number): ReadonlyArray<ReadonlyArray<Buffer>> => {
  const at = proof.length === 0 ? 0 : pick % proof.length
  const flipped = proof.map((hash, index) => (index === at ? Buffer.from(hash).fill((hash[0] ?? 0) ^ 1, 0, 1) : hash))
  return [proof.slice(1), [...proof, Buffer.alloc(32)], ...(proof.length === 0 ? [] : [flipped])].filter((each) => each.length !== proof.length || each !== proof)
}

test('EV-07: inclusion is proven for each leaf, and for nothing else', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 130 }), fc.nat(), fc.nat(), (size, a, b) => {
      const leaves = leavesOf(size)
      const index = a % size
      const root = treeOf(leaves).root()
      const proof = rootsOf(inclusionRanges(index, size), leaves)
      const leaf = leaves[index]!
      expect(verifyInclusion(leaf, index, size, proof, root)).toBe(true)
      expect(proof.length).toBeLessThanOrEqual(Math.ceil(Math.log2(size)))
      const other = b % size
      if (other !== index) {
        expect(verifyInclusion(leaves[other]!, index, size, proof, root)).toBe(false)
        expect(verifyInclusion(leaf, other, size, proof, root)).toBe(false)
      }
      expect(verifyInclusion(leaf, index, size, proof, leafHash(root))).toBe(false)
      expect(verifyInclusion(leaf, size, size, proof, root)).toBe(false)
      for (const wrong of mangled(proof, b)) if (size > 1 || wrong.length > 0) expect(verifyInclusion(leaf, index, size, wrong, root)).toBe(false)
    }),
    runs(300),
  )
})

test('EV-07: consistency is proven for each beginning, and for no other log', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 130 }), fc.nat(), fc.nat(), (newer, a, b) => {
      const leaves = leavesOf(newer)
      const older = 1 + (a % newer)
      const [olderRoot, newerRoot] = [treeOf(leaves.slice(0, older)).root(), treeOf(leaves).root()]
      const proof = rootsOf(consistencyRanges(older, newer), leaves)
      expect(verifyConsistency(older, newer, proof, olderRoot, newerRoot)).toBe(true)
      const forged = leaves.slice(0, older).map((leaf, index) => (index === b % older ? leafHash(leaf) : leaf))
      expect(verifyConsistency(older, newer, proof, treeOf(forged).root(), newerRoot)).toBe(false)
      expect(verifyConsistency(older, newer, rootsOf(consistencyRanges(older, newer), [...forged, ...leaves.slice(older)]), treeOf(forged).root(), newerRoot)).toBe(false)
      expect(verifyConsistency(newer, older, proof, newerRoot, olderRoot)).toBe(older === newer)
      for (const wrong of mangled(proof, b)) if (wrong.length > 0 || older < newer) expect(verifyConsistency(older, newer, wrong, olderRoot, newerRoot)).toBe(false)
    }),
    runs(300),
  )
  expect(verifyConsistency(0, 5, [], Buffer.alloc(32), Buffer.alloc(32))).toBe(true)
})
