/** Gathers the bytes of a snapshot file, so that about a megabyte is written at once. */

const bufferBytes = 2 ** 20

export class WriteBuffer {
  private parts: Array<Uint8Array> = []
  private bytes = 0

  get isFull(): boolean {
    return this.bytes > bufferBytes
  }

  add(part: Uint8Array): void {
    this.parts.push(part)
    this.bytes += part.byteLength
  }

  /** All bytes so far, in an array of their own, so that they can be moved to another thread. The buffer is empty then. */
  take(): Uint8Array<ArrayBuffer> {
    const bytes = new Uint8Array(this.bytes)
    let at = 0
    for (const part of this.parts) {
      bytes.set(part, at)
      at += part.byteLength
    }
    this.parts = []
    this.bytes = 0
    return bytes
  }
}
