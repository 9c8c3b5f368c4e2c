const kilobyte = 1024
const megabyte = 1024 * kilobyte

/**
 * Upper bounds on provider responses. A response beyond a bound counts as unreadable, and another provider is tried. All bounds are far
 * above real responses; they limit the memory and time that a broken provider can cost.
 */
export const answerLimits = {
  /** Bytes of a non-streamed response. */
  wholeBytes: 32 * megabyte,
  /** Bytes read of a response with an error status; the rest is discarded. */
  failureBytes: 64 * kilobyte,
  /** Characters of a response to an access token request. */
  tokenCharacters: 64 * kilobyte,
  /** Characters of one stream event. The largest real ones hold a 4096 × 4096 image in base64. */
  eventCharacters: 24 * megabyte,
  /** Lines of one event stream that are none of its fields, or an invalid `retry`. Real streams have none; reading one takes 10 µs. */
  unknownLines: 10_000,
  /** Bytes of one message of an AWS event stream. */
  messageBytes: 4 * megabyte,
  /**
   * Bytes of a stream: before its first content (`held`), when collected for a client that wants a whole response (`gathered`), and
   * otherwise (`streamed`).
   */
  heldBytes: 32 * megabyte,
  gatheredBytes: 64 * megabyte,
  streamedBytes: 512 * megabyte,
  /** Nesting depth of JSON. Deeper values overflow the stack when they are serialized again. */
  nesting: 500,
  /** Objects and arrays in one JSON text. 20 alternatives for each of 10,000 tokens make 440,000. */
  containers: 500_000,
  /** Keys of one object, elements of one list, and values in one JSON text. The longest real lists have one element per token. */
  keysOfObject: 10_000,
  /** Characters of one key. V8 does not hash keys longer than 16,383 characters, so it compares each with all others. */
  keyCharacters: 4_096,
  /** JSON texts shorter than this many characters are checked for nesting only, because everything else in them is small. */
  smallCharacters: 16_384,
  elementsOfList: 50_000,
  values: 4_000_000,
  /** Output items of one response: messages, reasoning and tool calls. In a non-streamed response, their parts count too. */
  items: 10_000,
  /** Fields of an object that is streamed in pieces; further fields are ignored. */
  fieldsInPieces: 200,
} as const
