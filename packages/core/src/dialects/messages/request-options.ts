import { remember } from '../../protocol/original.ts'
import type { Effort, FunctionTool, Prompt, TextFormat, Tool, ToolChoice } from '../../protocol/request.ts'
import type { JsonObject } from '../../protocol/wire.ts'
import { filled, flag, integer, object, oneOf, optional, type Read, required, text } from '../field-readers.ts'
import { thinkingShares } from '../thinking-budget.ts'
import { cacheOf } from './request-parts.ts'
import { dialect } from './wire.ts'

// Tools, thinking and the form of the answer.

export const readTool: Read<Tool> = (value, path) => {
  const body = object(value, path)
  const place = { body, path }
  const type = optional(place, 'type', text) ?? 'custom'
  if (type !== 'custom') return remember<Tool>({ type: 'native', dialect, body }, { dialect, body, path })
  const description = optional(place, 'description', text)
  const strict = optional(place, 'strict', flag)
  const tool: FunctionTool = {
    type: 'function',
    name: required(place, 'name', filled),
    ...(description !== undefined && { description }),
    parameters: required(place, 'input_schema', object),
    ...(strict !== undefined && { strict }),
    ...cacheOf(body, path),
  }
  return remember(tool, { dialect, body, path })
}

const choices: ReadonlyMap<string, ToolChoice> = new Map<string, ToolChoice>([
  ['auto', 'auto'],
  ['any', 'required'],
  ['none', 'none'],
])

export const readToolChoice: Read<Pick<Prompt, 'tool_choice' | 'parallel_tool_calls'>> = (value, path) => {
  const body = object(value, path)
  const type = required({ body, path }, 'type', filled)
  const alone = optional({ body, path }, 'disable_parallel_tool_use', flag)
  return { tool_choice: choices.get(type) ?? readOther(type, body, path), ...(alone && { parallel_tool_calls: false }) }
}

const readOther = (type: string, body: JsonObject, path: string): ToolChoice =>
  remember<ToolChoice & object>(
    type === 'tool' ? { type: 'function', name: required({ body, path }, 'name', filled) } : { type: 'native', dialect, body },
    { dialect, body, path },
  )

/** What of `output_config` and `thinking` we read; the rest of them is unread and goes on as it is. */
export interface Steering {
  readonly text?: Prompt['text']
  readonly reasoning?: Prompt['reasoning']
  readonly unread: JsonObject
}

/** `room`: how long the answer may become, its thoughts included. */
export function readSteering(body: JsonObject, room: number | undefined): Steering {
  const config = optional({ body, path: '' }, 'output_config', object)
  const place = { body: config ?? {}, path: 'output_config' }
  const format = optional(place, 'format', readFormat)
  const effort = optional(place, 'effort', efforts)
  const thinking = optional({ body, path: '' }, 'thinking', object)
  const read = thinking && readThinking(thinking, room)
  const reasoning = read || effort ? { ...(effort && { effort }), ...read } : undefined
  return {
    ...(config && format && { text: remember({ format }, { dialect, body: config, path: 'output_config' }) }),
    ...(reasoning && { reasoning: remember(reasoning, { dialect, body: { thinking, output_config: config }, path: 'thinking' }) }),
    unread: {
      ...(config && !format && !effort && Object.keys(config).length > 0 && { output_config: config }),
      ...(thinking && !read && { thinking }),
    },
  }
}

const efforts = oneOf('none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max')

const readFormat: Read<TextFormat> = (value, path) => {
  const body = object(value, path)
  const type = required({ body, path }, 'type', oneOf('json_schema'))
  return { type, name: 'answer', schema: required({ body, path }, 'schema', object) }
}

type Reasoning = NonNullable<Prompt['reasoning']>

/** Nothing for a kind of thinking that we do not know. */
function readThinking(body: JsonObject, room: number | undefined): Reasoning | undefined {
  const place = { body, path: 'thinking' }
  const type = required(place, 'type', filled)
  const display = optional(place, 'display', text)
  const summary = display === undefined ? undefined : displays.get(display)
  const wish = summary === undefined ? {} : { summary }
  if (type === 'disabled') return { effort: 'none' }
  // How much it thinks is the model's own affair, unless `output_config.effort` says.
  if (type === 'adaptive') return wish
  if (type !== 'enabled') return undefined
  const budget_tokens = required(place, 'budget_tokens', integer(1))
  return { effort: effortFor(budget_tokens, room ?? assumedRoom), summary: 'auto', ...wish, budget_tokens }
}

const displays: ReadonlyMap<string, string> = new Map([
  ['summarized', 'auto'],
  ['omitted', 'none'],
])

/** Where nobody said how long the answer may become: only its tokens are being counted. */
const assumedRoom = 32_000

/** Budgets are made by the same table, the other way round. Nobody names a budget to think nothing. */
const levels = ['minimal', 'low', 'medium', 'high', 'xhigh', 'max'] as const satisfies readonly Effort[]

/** The effort whose share is nearest to that of the budget; of two equally near, the lower. */
function effortFor(budget: number, room: number): Effort {
  const distance = (level: Effort): number => Math.abs(budget / room - thinkingShares[level])
  return levels.reduce<Effort>((best, next) => (distance(next) < distance(best) ? next : best), 'minimal')
}
