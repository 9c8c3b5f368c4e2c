import type { BuiltInDialect } from '@signalbox/dialects'
import { type Frame, isObject, type Json, type JsonObject } from '@signalbox/dialects/protocol'
import { sse } from '../../src/answers/answer.ts'
import { answerWriters, cannedAnswers, isBuiltInDialect } from '../../src/answers/writers.ts'
import { parsed } from '../../src/parsed.ts'
import { asSse, isSse, type Recording, recordings } from '../../src/recorded.ts'

// Right answers to begin with: recorded ones, where they are at hand, and ones of our own.

/** A stream as text frames, since these can be edited; `bytesOf` puts them into the framing of their dialect. */
export interface Sample {
  readonly dialect: BuiltInDialect
  readonly name: string
  readonly frames?: readonly Frame[]
  readonly whole?: JsonObject
}

/** Longer answers would only be slower. */
const maxFrames = 400

const asked = { model: 'm', includeUsage: true }

const synthetic: readonly Sample[] = Object.entries(answerWriters).flatMap(([dialect, writer]) =>
  Object.entries(cannedAnswers).map(([name, speech]): Sample => {
    const { whole, opening, content, closing } = writer.write(speech, asked)
    return { dialect: dialect as BuiltInDialect, name: `say:${name}`, whole, frames: [...opening, ...content, ...closing] }
  }),
)

function framesIn(recording: Recording): readonly Frame[] | undefined {
  if (recording.dialect === 'bedrock') return recording.chunks?.flatMap(chunk => eventOf(parsed(chunk)))
  return isSse(recording) ? framesOfText(Buffer.from(asSse(recording)).toString()) : undefined
}

/** `{messageStop: {…}}` is how an event of AWS is kept. */
const eventOf = (body: JsonObject | undefined): readonly Frame[] =>
  Object.entries(body ?? {}).map(([event, inner]: [string, Json | undefined]) => ({
    event,
    data: JSON.stringify(isObject(inner) ? inner : {}),
  }))

const framesOfText = (text: string): readonly Frame[] =>
  text.split(/\n\n/).flatMap(block => {
    const event = /^event: ?(.*)$/m.exec(block)?.[1]
    const data = /^data: ?(.*)$/m.exec(block)?.[1]
    return data === undefined ? [] : [event === undefined ? { data } : { event, data }]
  })

const recorded: readonly Sample[] = recordings().all.flatMap(recording => {
  const { dialect, vendor, name, whole } = recording
  if (!isBuiltInDialect(dialect)) return []
  const frames = framesIn(recording)
  return [{ dialect, name: `${vendor}/${name}`, ...(whole && { whole }), ...(frames && frames.length <= maxFrames && { frames }) }]
})

const all = [...synthetic, ...recorded]

/** By dialect, and whether they are streams. */
export const samplesOf = (dialect: BuiltInDialect, stream: boolean): readonly Sample[] =>
  all.filter(sample => sample.dialect === dialect && (stream ? sample.frames : sample.whole) !== undefined)

export const dialects: readonly BuiltInDialect[] = ['responses', 'chat', 'messages', 'gemini', 'bedrock']

export const bytesOf = (dialect: BuiltInDialect, frames: readonly Frame[]): Uint8Array => {
  const { wire } = answerWriters[dialect]
  return wire ? wire.bytes(frames) : new TextEncoder().encode(sse(frames))
}
