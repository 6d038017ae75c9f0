/** A smaller heap, in bytes, has little to return. */
const heapMin = 128 * 2 ** 20
/** A collection takes about 1.4 ms for each MiB that stays. So with more than this in use, in bytes, it would keep a server from its work for too long. */
const usedMax = 400 * 2 ** 20

/**
 * Collects the garbage of this thread, and returns memory to the operating system, with the room for young objects. For a server that has read its
 * log: most of its heap is garbage then, and V8 collects it only when the heap has grown further. The figures are in ADR 52.
 *
 * Resolves to whether it did; not with a small heap, or one in which much is in use.
 */
export const returnMemory = async (): Promise<boolean> => {
  const { heapTotal, heapUsed } = process.memoryUsage()
  if (heapTotal < heapMin || heapUsed > usedMax) return false
  try {
    // `gc()`, which Node has with an option, keeps all room for young objects.
    const { Session } = await import('node:inspector/promises')
    const session = new Session()
    session.connect()
    try {
      await session.post('HeapProfiler.collectGarbage')
    } finally {
      session.disconnect()
    }
    return true
  } catch {
    // A Node that was built without the inspector. It needs more memory, and works as well.
    return false
  }
}
