import type { Failure, ResponseMetadata } from '@signalbox/dialects/protocol'
import type { StreamPart } from './wire.ts'

/** The state of encoding one response as parts. */
export interface PartEncoder {
  /** Encoded parts that were not taken yet. */
  parts: StreamPart[]
  readonly metadata: () => ResponseMetadata
  readonly items: Map<number, ItemProgress>
  /** Whether the client wants the gateway's events too. */
  readonly includesRaw: boolean
  /** Encodes a failure inside a stream. */
  readonly encodeFailure: (failure: Failure) => unknown
  /** Sources sent so far. */
  sources: number
  hasCalls: boolean
  hasRefusal: boolean
  phase: 'new' | 'started' | 'ended'
}

/** The sent part of an item that is not finished. */
export interface ItemProgress {
  /** The id of a reasoning item, which all its parts carry. */
  readonly itemId: string | undefined
  readonly blocks: Map<string, OpenBlock>
  isFinished: boolean
}

/** A text, reasoning or tool input that is being sent. */
export interface OpenBlock {
  readonly id: string
  readonly type: 'text' | 'reasoning' | 'tool-input'
  /** Characters sent. */
  length: number
}
