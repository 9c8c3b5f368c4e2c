import type { FunctionCallItem, FunctionCallOutputItem, Item, MessageItem, Part, ReasoningItem } from '../../protocol/item.ts'
import { pathOf } from '../../protocol/original.ts'
import type { Warning } from '../../protocol/response.ts'
import type { JsonObject } from '../../protocol/wire.ts'
import { unsupported } from '../apply-quirks.ts'
import { objectIn, objects } from '../json.ts'
import { orderToolResults } from '../tool-result-order.ts'
import { writeMedia } from './media.ts'
import { readState, type Signed } from './reasoning-state.ts'
import type { Names } from './tool-names.ts'
import { isEmpty, signEnd, type Turn, textParts, writeTurns } from './turns.ts'
import { dialect } from './wire.ts'

// Items → contents.

/** How this offer wants a conversation. */
export interface Manner {
  readonly names: Names
  /** A tool's result may hold images. */
  readonly richResults: boolean
  readonly signatures: boolean
  /** System words go before the first of the user. */
  readonly noSystem: boolean
  readonly refuses: { readonly file: boolean; readonly audio: boolean }
}

export interface Written {
  readonly contents: readonly JsonObject[]
  readonly systemInstruction?: JsonObject
  readonly warnings: readonly Warning[]
}

/** `words`: what the system says first. */
export function writeContents(input: readonly Item[], words: readonly string[], manner: Manner): Written {
  const turns: Turn[] = []
  const system = words.filter(text => text !== '')
  const warnings: Warning[] = []
  const places = new Map<string, number>()
  const called = new Map<string, string>()
  /** Signatures that belong to what the model says or calls next. */
  let next: { readonly call?: Signed | undefined; readonly text?: Signed | undefined } = {}
  let leading = true

  const into = (role: Turn['role']): Turn => {
    if (role === 'user') next = {}
    if (isEmpty(turns.at(-1))) turns.pop()
    const last = turns.at(-1)
    if (last?.role === role) return last
    const turn: Turn = { role, parts: [], results: [], images: [] }
    turns.push(turn)
    return turn
  }

  const lose = (param: string, why = 'can only be read by a provider of another kind and was left out'): void => {
    warnings.push(unsupported(param, `\`${param}\` ${why}.`))
  }

  const writePart = (part: Part, param: string): readonly JsonObject[] => {
    const written = mediaOrNative(part, manner)
    if (!written) lose(pathOf(part, param))
    return written ? [written] : []
  }

  const takeSystem = (message: MessageItem, param: string): void => {
    const said = message.content.flatMap((part, at) => {
      if (part.type === 'text') return [part.text]
      lose(pathOf(part, `${param}.content[${at}]`))
      return []
    })
    const filled = said.filter(text => text !== '')
    if (leading) for (const text of filled) system.push(text)
    else if (filled.length > 0) into('user').parts.push({ text: `<system>\n${filled.join('\n\n')}\n</system>` })
  }

  const takeMessage = ({ role, content }: MessageItem, param: string): void => {
    const { parts } = into(role === 'assistant' ? 'model' : 'user')
    for (const [at, part] of content.entries()) {
      const text = part.type === 'text' ? part.text : part.type === 'refusal' ? part.refusal : undefined
      if (text === undefined && role === 'assistant' && part.type !== 'native') lose(pathOf(part, `${param}.content[${at}]`))
      else if (text === undefined) parts.push(...writePart(part, `${param}.content[${at}]`))
      else {
        parts.push(...textParts(text, role === 'assistant' ? next.text : undefined))
        next = { ...next, text: undefined }
      }
    }
  }

  const takeCall = (item: FunctionCallItem, param: string): void => {
    const { parts } = into('model')
    const { call_id: id, name, arguments: written } = item
    const args = objectIn(written) ?? (written.trim() === '' ? {} : undefined)
    if (!args) lose(pathOf(item, `${param}.arguments`), 'is no JSON object and was sent as one that holds the text')
    const sent = manner.names.sent(name)
    places.set(id, places.size)
    called.set(id, sent)
    const functionCall = { id, name: sent, args: args ?? { _raw: written } }
    parts.push({ functionCall, ...(next.call && { thoughtSignature: next.call.signature }) })
    next = { ...next, call: undefined }
  }

  const takeResult = (item: FunctionCallOutputItem, param: string): void => {
    const { results, images } = into('user')
    const name = called.get(item.call_id)
    if (name === undefined) lose(pathOf(item, `${param}.call_id`), 'is the id of no call before it; the result was sent without its name')
    const media =
      typeof item.output === 'string'
        ? []
        : item.output.flatMap((part, at) => (isText(part) ? [] : writePart(part, `${param}.output[${at}]`)))
    const functionResponse = {
      id: item.call_id,
      name: name ?? 'tool',
      response: responseOf(item),
      ...(manner.richResults && media.length > 0 && { parts: media }),
    }
    results.push({ place: places.get(item.call_id) ?? places.size, part: { functionResponse } })
    if (!manner.richResults) images.push(...media)
  }

  const takeThought = ({ encrypted_content, summary }: ReasoningItem): void => {
    const signed = readState(encrypted_content)
    if (signed?.on === 'call') next = { ...next, call: signed }
    else if (signed?.on === 'text') next = { ...next, text: signed }
    else if (signed?.on === 'thought')
      into('model').parts.push({ text: summary.join(''), thought: true, thoughtSignature: signed.signature })
    else if (signed && turns.at(-1)?.role === 'model') signEnd(into('model').parts, signed)
  }

  for (const { item, at } of orderToolResults(input)) {
    const param = `input[${at}]`
    const isSystem = item.type === 'message' && (item.role === 'system' || item.role === 'developer')
    leading &&= isSystem
    if (isSystem) takeSystem(item, param)
    else if (item.type === 'message') takeMessage(item, param)
    else if (item.type === 'function_call') takeCall(item, param)
    else if (item.type === 'function_call_output') takeResult(item, param)
    else if (item.type === 'reasoning') takeThought(item)
    else if (item.dialect === dialect) into('model').parts.push(item.body)
    else lose(pathOf(item, param))
  }
  const contents = writeTurns(turns, manner.signatures)
  return { ...withSystem(contents, system, manner), warnings }
}

const mediaOrNative = (part: Part, { refuses }: Manner): JsonObject | undefined => {
  if (part.type === 'native') return part.dialect === dialect ? part.body : undefined
  if ((part.type === 'file' || part.type === 'audio') && refuses[part.type]) return undefined
  return part.type === 'image' || part.type === 'file' || part.type === 'audio' ? writeMedia(part) : undefined
}

const isText = (part: Part): boolean => part.type === 'text' || part.type === 'refusal'

/** An object always: the one that the text holds, or one around the text. */
function responseOf({ output, is_error }: FunctionCallOutputItem): JsonObject {
  const text =
    typeof output === 'string'
      ? output
      : output.flatMap(part => (part.type === 'text' ? [part.text] : part.type === 'refusal' ? [part.refusal] : [])).join('\n')
  return is_error ? { error: text } : (objectIn(text) ?? { output: text })
}

/** A conversation of nothing but system words is said by the user: there must be something to answer. */
function withSystem(contents: readonly JsonObject[], system: readonly string[], { noSystem }: Manner): Omit<Written, 'warnings'> {
  if (system.length === 0) return { contents }
  const parts = system.map(text => ({ text }))
  if (contents.length === 0) return { contents: [{ role: 'user', parts }] }
  if (!noSystem) return { contents, systemInstruction: { parts } }
  const first = contents.findIndex(turn => turn.role === 'user' && !objects(turn.parts).some(part => part.functionResponse !== undefined))
  if (first === -1) return { contents: [{ role: 'user', parts }, ...contents] }
  return {
    contents: contents.map((turn, at) => (at === first ? { ...turn, parts: [...parts, ...objects(turn.parts)] } : turn)),
  }
}
