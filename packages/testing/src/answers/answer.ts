import type { Frame, JsonObject } from '@signalbox/dialects/protocol'

/** The content of one provider response, before it is encoded in a dialect. */
export interface AnswerContent {
  readonly reasoning?: string
  readonly text?: string
  readonly refusal?: string
  readonly tools?: readonly AnswerToolCall[]
  /** Default: `stop`, or `tool_calls` if tools are called. */
  readonly finish?: 'stop' | 'length' | 'content_filter'
  /** Default: counted from the pieces. `none`: the provider does not report it. */
  readonly usage?: AnswerUsage | 'none'
}

export interface AnswerToolCall {
  readonly name: string
  readonly arguments: string
  /** Default: numbered from 1, in the dialect's format. Empty: none is sent, if the dialect allows that. */
  readonly id?: string
  /** Whether it is a call of a custom tool, whose `arguments` are plain text. Only implemented for the Responses API. */
  readonly custom?: boolean
}

export interface AnswerUsage {
  readonly input: number
  readonly output: number
  readonly cached?: number
  readonly reasoning?: number
}

/** Properties of a request that affect the response. */
export interface AnswerRequest {
  readonly model: string
  /** Chat Completions reports usage in a stream only on request. */
  readonly includeUsage: boolean
}

/** One response in one dialect, both whole and streamed; the stream is split in three parts, so that a fault can occur between them. */
export interface WrittenAnswer {
  readonly whole: JsonObject
  /** Announces the stream without content. */
  readonly opening: readonly Frame[]
  readonly content: readonly Frame[]
  /** Finishes the response: the terminal event, or finish reason, usage and `[DONE]`. */
  readonly closing: readonly Frame[]
}

/** An error response, before it is encoded in a dialect. */
export interface AnswerError {
  readonly message: string
  readonly type: string
  readonly code: string | null
  readonly param?: string | null
}

/** The provider side of a dialect. */
export interface AnswerWriter {
  readonly path: string
  /** Model and delivery from the path, if this dialect has them there instead of in the body. */
  addressed?(path: string): { readonly model: string; readonly stream: boolean } | undefined
  /** How frames are sent, if not as server-sent events. */
  readonly wire?: { readonly type: string; readonly bytes: (frames: readonly Frame[]) => Uint8Array }
  write(script: AnswerContent, request: AnswerRequest): WrittenAnswer
  /** Encodes the error as a response body. */
  error(trouble: AnswerError): JsonObject
  /** Encodes the error as the frames that end a stream. */
  errorFrames(trouble: AnswerError, request: AnswerRequest): readonly Frame[]
  /** Encodes a whole response that reports a failure although its status is 200. */
  failed(trouble: AnswerError, request: AnswerRequest): JsonObject
  /** Encodes a frame with `text` that can be inserted into the content of `write({ text })`. */
  textFrame(text: string, request: AnswerRequest): Frame
  /** Encodes a frame of an unknown type. */
  unknownFrame(request: AnswerRequest): Frame
}

/** Contains two- and four-byte characters, so that wrong splitting of bytes is detected. */
export const defaultText =
  'Signals were set by hand once: a lever for each arm, a bell for each train. Schöne Grüße aus dem Stellwerk, 日本語も少し, and one 🚂 for good measure.'

export const created = 1_764_547_200

/** Words with their trailing space, roughly like the pieces that models send. */
export const pieces = (text: string): readonly string[] => text.match(/\S+\s*|\s+/g) ?? []

export function usageOf(script: AnswerContent): Required<AnswerUsage> | undefined {
  if (script.usage === 'none') return undefined
  if (script.usage) return { cached: 0, reasoning: 0, ...script.usage }
  const said = [script.text, script.refusal, ...(script.tools ?? []).map(tool => tool.arguments)]
  const reasoning = pieces(script.reasoning ?? '').length
  return { input: 12, output: said.reduce((sum, text) => sum + pieces(text ?? '').length, reasoning), cached: 0, reasoning }
}

/** Frames as server-sent events. */
export const sse = (frames: readonly Frame[]): string => frames.map(frameText).join('')

export const frameText = ({ event, data }: Frame): string => `${event === undefined ? '' : `event: ${event}\n`}data: ${data}\n\n`
