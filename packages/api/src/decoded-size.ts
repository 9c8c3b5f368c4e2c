/** Decoded bytes per encoded byte above which a body counts as a decompression bomb. */
export const maxDecodedRatio = 100
/** Decoded bytes up to which the ratio is not checked. */
const ratioCheckedFromBytes = 1_048_576

/** Whether a body that is being decoded is a decompression bomb, by its bytes so far. */
export const isBomb = (encodedBytes: number, decodedBytes: number): boolean =>
  decodedBytes > ratioCheckedFromBytes && decodedBytes > encodedBytes * maxDecodedRatio
