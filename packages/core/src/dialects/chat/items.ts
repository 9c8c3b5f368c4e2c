import type { FunctionCallItem, FunctionCallOutputItem, ImagePart, Item, MessageItem, Part, ReasoningItem } from '../../protocol/item.ts'
import type { Quirks } from '../../protocol/model.ts'
import type { Warning } from '../../protocol/response.ts'
import type { JsonObject } from '../../protocol/wire.ts'
import { mintCallId } from '../mint.ts'
import { unsupported } from '../quirks.ts'
import { annotationsOf, callsIn, dialect, logprobsOf, saidIn } from './wire.ts'

// Items ⇄ messages. Here a turn of the assistant is one message; there it is several items.

export interface Written {
  readonly messages: readonly JsonObject[]
  readonly warnings: readonly Warning[]
}

/** What the assistant did in one go, and what came back from its tools. */
interface Turn {
  text: string[]
  calls: JsonObject[]
  thoughts: string[]
  results: JsonObject[]
  /** Images that tools returned. They cannot stand in a tool's message, and no other message may come between tool messages. */
  images: JsonObject[]
}

export function writeMessages(input: readonly Item[], instructions: readonly string[], quirks: Quirks): Written {
  const messages: JsonObject[] = instructions.map(content => ({ role: systemRole(quirks), content }))
  const warnings: Warning[] = []
  let turn: Turn | undefined

  const close = (): void => {
    if (turn) for (const message of writeTurn(turn, quirks)) messages.push(message)
    turn = undefined
  }
  /** The assistant speaks: the same turn goes on until a tool has answered. */
  const speaking = (): Turn => {
    if (turn && turn.results.length > 0) close()
    turn ??= { text: [], calls: [], thoughts: [], results: [], images: [] }
    return turn
  }
  const lose = (param: string): void => {
    warnings.push(unsupported(param, `\`${param}\` can only be read by a provider of another kind and was left out.`))
  }

  for (const [at, item] of input.entries()) {
    const param = `input[${at}]`
    const losePart: Lose = part => lose(`${param}.${item.type === 'message' ? 'content' : 'output'}[${part}]`)
    if (item.type === 'native') {
      if (item.dialect === dialect) {
        close()
        messages.push(item.body)
      } else lose(param)
    } else if (item.type === 'function_call') speaking().calls.push(writeCall(item, quirks))
    else if (item.type === 'reasoning') for (const thought of thoughtsOf(item)) speaking().thoughts.push(thought)
    else if (item.type === 'function_call_output') {
      turn ??= { text: [], calls: [], thoughts: [], results: [], images: [] }
      const { result, images } = writeResult(item, quirks, losePart)
      turn.results.push(result)
      for (const image of images) turn.images.push(image)
    } else if (item.role === 'assistant') speaking().text.push(textOf(item.content, losePart).join(''))
    else {
      close()
      messages.push(writeMessage(item, quirks, losePart))
    }
  }
  close()
  return { messages, warnings }
}

const systemRole = (quirks: Quirks): string => (quirks.developer_role ? 'developer' : 'system')

function writeTurn({ text, calls, thoughts, results, images }: Turn, { reasoning_field: field }: Quirks): readonly JsonObject[] {
  const messages: JsonObject[] = []
  if (text.length > 0 || calls.length > 0 || (field !== undefined && thoughts.length > 0)) {
    const content = text.filter(words => words !== '').join('\n\n')
    messages.push({
      role: 'assistant',
      content: content === '' && calls.length > 0 ? null : content,
      // Hosts that want earlier thoughts back want the field on every turn, also where there were none.
      ...(field !== undefined && { [field]: thoughts.join('\n\n') }),
      ...(calls.length > 0 && { tool_calls: calls }),
    })
  }
  for (const result of results) messages.push(result)
  if (images.length > 0) messages.push({ role: 'user', content: images })
  return messages
}

const writeCall = ({ call_id, name, arguments: written }: FunctionCallItem, quirks: Quirks): JsonObject => ({
  id: callId(call_id, quirks),
  type: 'function',
  function: { name, arguments: written === '' ? '{}' : written },
})

/** The same id always becomes the same hash, so calls and results still find each other. */
function callId(id: string, { call_id_length: length }: Quirks): string {
  if (length === undefined || (id.length === length && /^[a-zA-Z0-9]+$/.test(id))) return id
  return mintCallId(id).slice('call_'.length).padEnd(length, '0').slice(0, length)
}

const thoughtsOf = ({ content, summary }: ReasoningItem): readonly string[] => (content ?? summary).filter(thought => thought !== '')

type Lose = (part: number) => void

function writeResult(
  { call_id, output }: FunctionCallOutputItem,
  quirks: Quirks,
  lose: Lose,
): { readonly result: JsonObject; readonly images: readonly JsonObject[] } {
  const tool_call_id = callId(call_id, quirks)
  if (typeof output === 'string') return { result: { role: 'tool', tool_call_id, content: output }, images: [] }
  const images = output.flatMap(part => (part.type === 'image' ? [writeImage(part)] : []))
  const note = { type: 'text', text: `Returned by the tool call ${tool_call_id}:` }
  const text = textOf(output, at => (output[at]?.type === 'image' ? undefined : lose(at))).join('\n')
  const content = text === '' && images.length > 0 ? 'The result is in the next message.' : text
  return { result: { role: 'tool', tool_call_id, content }, images: images.length > 0 ? [note, ...images] : [] }
}

/** The texts of parts. An image in the speech of an assistant or a system has no place here. */
const textOf = (parts: readonly Part[], lose: Lose): readonly string[] =>
  parts.flatMap((part, at) => {
    if (part.type === 'text') return [part.text]
    if (part.type === 'refusal') return [part.refusal]
    lose(at)
    return []
  })

function writeMessage({ role, content }: MessageItem, quirks: Quirks, lose: Lose): JsonObject {
  const written = role === 'developer' ? systemRole(quirks) : role
  if (content.every(part => part.type === 'text' || part.type === 'refusal')) {
    // One string, since many hosts know no lists of parts.
    return { role: written, content: textOf(content, lose).join('\n\n') }
  }
  const parts = content.flatMap((part, at): readonly JsonObject[] => {
    if (part.type === 'text') return [{ type: 'text', text: part.text }]
    if (part.type === 'refusal') return [{ type: 'text', text: part.refusal }]
    if (part.type === 'image') return [writeImage(part)]
    if (part.type === 'native' && part.dialect === dialect) return [part.body]
    lose(at)
    return []
  })
  return { role: written, content: parts }
}

const details: ReadonlySet<string> = new Set(['auto', 'low', 'high'])
const writeImage = ({ url, detail }: ImagePart): JsonObject => ({
  type: 'image_url',
  image_url: { url, ...(detail !== undefined && details.has(detail) && { detail }) },
})

/** A whole message → items, in the order of a stream: thoughts, speech, calls. */
export function readMessage(message: JsonObject, choice: JsonObject, mint: (call: number, name: string) => string): readonly Item[] {
  const items: Item[] = []
  for (const { kind, text } of saidIn(message)) {
    const last = items.at(-1)
    if (kind === 'reasoning') {
      items.push(last?.type === 'reasoning' ? withThought(items, last, text) : { type: 'reasoning', summary: [], content: [text] })
    } else {
      const part: Part = kind === 'text' ? { type: 'text', text } : { type: 'refusal', refusal: text }
      items.push(
        last?.type === 'message'
          ? withPart(items, last, part)
          : { type: 'message', role: 'assistant', content: [part], status: 'completed' },
      )
    }
  }
  return [...withExtras(items, annotationsOf(message), logprobsOf(choice)), ...readCalls(message, mint)]
}

function withThought(items: Item[], last: ReasoningItem, text: string): ReasoningItem {
  items.pop()
  return { ...last, content: [`${last.content?.join('') ?? ''}${text}`] }
}

/** Neighbouring texts are one text, as they are in a stream. */
function withPart(items: Item[], last: MessageItem, part: Part): MessageItem {
  items.pop()
  const before = last.content.at(-1)
  const joined: Part | undefined =
    before?.type === 'text' && part.type === 'text' ? { type: 'text', text: before.text + part.text } : undefined
  return { ...last, content: joined ? [...last.content.slice(0, -1), joined] : [...last.content, part] }
}

/** Citations and probabilities belong to the first text. */
function withExtras(items: readonly Item[], annotations: readonly JsonObject[], logprobs: readonly JsonObject[]): readonly Item[] {
  if (annotations.length === 0 && logprobs.length === 0) return items
  const at = items.findIndex(item => item.type === 'message')
  return items.map((item, index) => {
    const [first, ...rest] = item.type === 'message' && index === at ? item.content : []
    if (item.type !== 'message' || first?.type !== 'text') return item
    return {
      ...item,
      content: [{ ...first, ...(annotations.length > 0 && { annotations }), ...(logprobs.length > 0 && { logprobs }) }, ...rest],
    }
  })
}

function readCalls(message: JsonObject, mint: (call: number, name: string) => string): readonly Item[] {
  const taken = new Set<string>()
  return callsIn(message).map(({ id, name, arguments: written }, at) => {
    const call_id = id !== '' && !taken.has(id) ? id : mint(at, name)
    taken.add(call_id)
    return { type: 'function_call', call_id, name, arguments: written === '' ? '{}' : written, status: 'completed' }
  })
}

/** What an answer without a word is: an empty message, never nothing. */
export const emptyMessage: MessageItem = { type: 'message', role: 'assistant', content: [{ type: 'text', text: '' }], status: 'completed' }
