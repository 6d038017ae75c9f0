import { open } from 'node:fs/promises'

/** Reads a part of a file, or less if the file ends before. */
export const readPart = async (file: string, offset: number, bytes: number): Promise<Buffer> => {
  const handle = await open(file, 'r')
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(bytes), 0, bytes, offset)
    return buffer.subarray(0, bytesRead)
  } finally {
    await handle.close()
  }
}
