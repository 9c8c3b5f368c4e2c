import type { Frame, JsonObject } from '@signalbox/core/protocol'

/** What a provider says in one answer, before it is put into a dialect. */
export interface AnswerContent {
  readonly reasoning?: string
  readonly text?: string
  readonly refusal?: string
  readonly tools?: readonly AnswerToolCall[]
  /** Default: `stop`, or `tool_calls` where tools are called. */
  readonly finish?: 'stop' | 'length' | 'content_filter'
  /** Default: counted from the pieces. `none`: the provider keeps it to itself. */
  readonly usage?: AnswerUsage | 'none'
}

export interface AnswerToolCall {
  readonly name: string
  readonly arguments: string
  /** Default: numbered from 1, in the manner of the dialect. Empty: none is given, where the dialect knows such calls. */
  readonly id?: string
  /** A call of a custom tool, whose `arguments` are plain text. The Responses API alone has it here. */
  readonly custom?: boolean
}

export interface AnswerUsage {
  readonly input: number
  readonly output: number
  readonly cached?: number
  readonly reasoning?: number
}

/** What of a request decides how the answer looks. */
export interface AnswerRequest {
  readonly model: string
  /** Chat tells usage in a stream only where it was request to. */
  readonly includeUsage: boolean
}

/** One answer in one dialect, in both deliveries; the stream in three acts, so that a fault can strike between them. */
export interface WrittenAnswer {
  readonly whole: JsonObject
  /** Announces, says nothing yet. */
  readonly opening: readonly Frame[]
  readonly content: readonly Frame[]
  /** What makes the answer finished: the terminal event, or finish reason, usage and `[DONE]`. */
  readonly closing: readonly Frame[]
}

/** An unhappy answer, before it is put into a dialect. */
export interface AnswerError {
  readonly message: string
  readonly type: string
  readonly code: string | null
  readonly param?: string | null
}

/** A dialect as a provider speaks it. */
export interface AnswerWriter {
  readonly path: string
  /** Where the path says what other languages say in the body: what it says, if it is one of this language. */
  addressed?(path: string): { readonly model: string; readonly stream: boolean } | undefined
  /** How frames go over the wire, where they are no server-sent events. */
  readonly wire?: { readonly type: string; readonly bytes: (frames: readonly Frame[]) => Uint8Array }
  write(script: AnswerContent, request: AnswerRequest): WrittenAnswer
  /** The error as a body of its own. */
  error(trouble: AnswerError): JsonObject
  /** The error as the frames that end a stream. */
  errorFrames(trouble: AnswerError, request: AnswerRequest): readonly Frame[]
  /** A whole answer that says it failed, under a status that says it did not. */
  failed(trouble: AnswerError, request: AnswerRequest): JsonObject
  /** A frame of `text` that can stand among the content of `tell({ text })`. */
  textFrame(text: string, request: AnswerRequest): Frame
  /** A frame of a kind that nobody has heard of yet. */
  unknownFrame(request: AnswerRequest): Frame
}

/** Two- and four-byte characters on purpose: whoever cuts bytes wrongly is found out. */
export const defaultText =
  'Signals were set by hand once: a lever for each arm, a bell for each train. Schöne Grüße aus dem Stellwerk, 日本語も少し, and one 🚂 for good measure.'

export const created = 1_764_547_200

/** Words with the space that follows them: what models send, roughly. */
export const pieces = (text: string): readonly string[] => text.match(/\S+\s*|\s+/g) ?? []

export function usageOf(script: AnswerContent): Required<AnswerUsage> | undefined {
  if (script.usage === 'none') return undefined
  if (script.usage) return { cached: 0, reasoning: 0, ...script.usage }
  const said = [script.text, script.refusal, ...(script.tools ?? []).map(tool => tool.arguments)]
  const reasoning = pieces(script.reasoning ?? '').length
  return { input: 12, output: said.reduce((sum, text) => sum + pieces(text ?? '').length, reasoning), cached: 0, reasoning }
}

/** Frames as they go over the wire. */
export const sse = (frames: readonly Frame[]): string => frames.map(frameText).join('')

export const frameText = ({ event, data }: Frame): string => `${event === undefined ? '' : `event: ${event}\n`}data: ${data}\n\n`
