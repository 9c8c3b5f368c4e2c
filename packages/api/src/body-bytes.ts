/** The bytes of a body in few pieces. A client may send them one by one, and keeping each one separately would take hundreds of bytes. */
export interface BodyBytes {
  add(piece: Uint8Array): void
  /** The pieces in order. Call it once, at the end. */
  pieces(): readonly Uint8Array[]
}

/** Smaller pieces are copied together. */
const smallBytes = 16_384
const slabBytes = 65_536

/** Collects the bytes of one request body; small pieces are copied together. */
export function collectBytes(): BodyBytes {
  const pieces: Uint8Array[] = []
  let slab: Uint8Array | undefined
  let filled = 0
  const closeSlab = (): void => {
    if (slab !== undefined && filled > 0) pieces.push(slab.subarray(0, filled))
    slab = undefined
    filled = 0
  }
  return {
    add(piece) {
      // The first piece is kept as it is, because usually it is the only one.
      if (piece.byteLength >= smallBytes || (pieces.length === 0 && slab === undefined)) {
        closeSlab()
        pieces.push(piece)
        return
      }
      if (slab !== undefined && filled + piece.byteLength > slabBytes) closeSlab()
      slab ??= new Uint8Array(slabBytes)
      slab.set(piece, filled)
      filled += piece.byteLength
    },
    pieces() {
      closeSlab()
      return pieces
    },
  }
}
