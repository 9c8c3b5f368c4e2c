/** Where a part of a conversation occurs: in a message of this role, or in a tool result. */
export type PartPlace = 'user' | 'assistant' | 'system' | 'tool'

/** The media type of an image or file that is sent inline, in a `data:` URL. */
export interface MediaType {
  /** Lower case, without parameters. */
  readonly type: string
  readonly isBase64: boolean
}

/**
 * Images, files and audio that a dialect can express, in addition to its fidelity table. An offer is not called with others.
 *
 * @example { places: ['user'], image: ({ type }) => type === 'image/png' }
 */
export interface MediaSupport {
  /** Places where media may occur. All others accept text only. */
  readonly places: readonly PartPlace[]
  /** Whether an inline image is supported. Default: all are. */
  readonly image?: (media: MediaType) => boolean
  /** Whether an inline file is supported. Default: all are. */
  readonly file?: (media: MediaType) => boolean
}
