import type { FunctionCallOutputItem, Item, MessageItem, Part } from '../../protocol/item.ts'
import type { Quirks } from '../../protocol/model.ts'
import { pathOf } from '../../protocol/original.ts'
import type { Warning } from '../../protocol/response.ts'
import type { JsonObject } from '../../protocol/wire.ts'
import { unsupported } from '../apply-quirks.ts'
import { partsOf } from '../lossy-marks.ts'
import { orderToolResults } from '../tool-result-order.ts'
import { type Lose, refusedHere, textsOf, writeParts } from './parts.ts'
import { readState } from './state.ts'
import { callId, originsOf, type Saying, startTurn, type Turn, writeTurn } from './turns.ts'
import { dialect, originalBody } from './wire.ts'

// A conversation → messages. Here a turn of the assistant is one message; there it is several items.

export interface Written {
  readonly messages: readonly JsonObject[]
  readonly warnings: readonly Warning[]
}

export function writeMessages(input: readonly Item[], instructions: readonly string[], quirks: Quirks): Written {
  const messages: JsonObject[] = instructions.map(content => ({ role: systemRole(quirks), content }))
  const warnings: Warning[] = []
  const origins = originsOf(input)
  let turn: Turn | undefined

  const close = (): void => {
    if (turn) for (const message of writeTurn(turn, quirks)) messages.push(message)
    turn = undefined
  }
  /** The assistant speaks: the same turn goes on until a tool has answered, or another message of the caller's begins. */
  const speaking = (origin: JsonObject | undefined): Turn => {
    if (turn && (turn.results.length > 0 || (origin && turn.origin && origin !== turn.origin))) close()
    turn ??= startTurn(origin)
    turn.origin ??= origin
    return turn
  }
  const answering = (): Turn => {
    turn ??= startTurn(undefined)
    return turn
  }

  for (const { item, at } of orderToolResults(input, isOwn)) {
    const param = pathOf(item, `input[${at}]`)
    const parts = partsOf(item)
    const lose: Lose = (part, why) => {
      const found = parts[part]
      const where = `${param}.${item.type === 'message' ? 'content' : 'output'}[${part}]`
      const path = found ? pathOf(found, where) : where
      warnings.push(unsupported(path, `\`${path}\` ${why}`))
    }
    if (item.type === 'native') {
      if (item.dialect !== dialect)
        warnings.push(unsupported(param, `\`${param}\` can only be read by a provider of another kind and was left out.`))
      else if (item.body.role === undefined) speaking(origins[at]).calls.push(item)
      else {
        close()
        messages.push(item.body)
      }
    } else if (item.type === 'function_call') speaking(origins[at]).calls.push(item)
    else if (item.type === 'reasoning') {
      const { thoughts, details, signatures } = speaking(origins[at])
      const state = readState(item.encrypted_content)
      for (const thought of item.content ?? item.summary) if (thought !== '') thoughts.push(thought)
      for (const detail of state.details) details.push(detail)
      for (const [call, signature] of state.signatures) signatures.set(call, signature)
    } else if (item.type === 'function_call_output') {
      const { result, media } = writeResult(item, quirks, lose)
      answering().results.push(result)
      for (const part of media) answering().media.push(part)
    } else if (item.role === 'assistant') speaking(origins[at]).said.push(sayingOf(item, lose))
    else {
      close()
      messages.push(writeMessage(item, quirks, lose))
    }
  }
  close()
  return { messages, warnings }
}

/** Said in this very language: it goes where the caller put it. */
const isOwn = (item: Item): boolean => originalBody(item) !== undefined

/** What goes as the caller wrote it is not put into words, and loses nothing. */
function sayingOf(item: MessageItem, lose: Lose): Saying {
  const write = (): string => textsOf(item.content, lose).join('')
  if (originalBody(item)) return { item, text: write }
  const text = write()
  return { item, text: () => text }
}

const systemRole = (quirks: Quirks): string => (quirks.developer_role ? 'developer' : 'system')

interface WrittenResult {
  readonly result: JsonObject
  readonly media: readonly JsonObject[]
}

function writeResult(item: FunctionCallOutputItem, quirks: Quirks, lose: Lose): WrittenResult {
  const { output } = item
  const tool_call_id = callId(item.call_id, quirks)
  const known = originalBody(item)
  if (known?.role === 'tool') return { result: { ...known, tool_call_id }, media: [] }
  if (typeof output === 'string') return { result: { role: 'tool', tool_call_id, content: output }, media: [] }
  const loseAt =
    (at: number): Lose =>
    (_, why) =>
      lose(at, why)
  const media = output.flatMap((part, at) => (isMedia(part) ? writeParts([part], quirks, loseAt(at)) : []))
  const text = output.flatMap((part, at) => (isMedia(part) ? [] : textsOf([part], loseAt(at)))).join('\n')
  const content = text === '' && media.length > 0 ? 'The result is in the next message.' : text
  const note = { type: 'text', text: `Returned by the tool call ${tool_call_id}:` }
  return { result: { role: 'tool', tool_call_id, content }, media: media.length > 0 ? [note, ...media] : [] }
}

const isMedia = ({ type }: Part): boolean => type === 'image' || type === 'file' || type === 'audio'

function writeMessage(item: MessageItem, quirks: Quirks, lose: Lose): JsonObject {
  const role = item.role === 'developer' ? systemRole(quirks) : item.role
  const known = originalBody(item)
  if (known && !item.content.some(part => refusedHere(part, quirks) !== undefined)) return { ...known, role }
  if (item.content.every(part => part.type === 'text' || part.type === 'refusal')) {
    // One string, since many hosts know no lists of parts.
    return { role, content: textsOf(item.content, lose).join('\n\n') }
  }
  const parts = writeParts(item.content, quirks, lose)
  return { ...known, role, content: parts.length > 0 ? parts : '' }
}
