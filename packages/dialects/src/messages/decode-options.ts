import {
  anyText,
  booleanValue,
  integerBetween,
  literalOf,
  nonEmptyText,
  objectValue,
  optional,
  optionalFields,
  type Read,
  required,
} from '../common/field-readers.ts'
import { effortForBudget } from '../common/thinking-budget.ts'
import { remember } from '../protocol/original.ts'
import type { Prompt, TextFormat, ToolChoice } from '../protocol/request.ts'
import type { FunctionTool, Tool } from '../protocol/tool.ts'
import type { JsonObject } from '../protocol/wire.ts'
import { readCachePoint } from './decode-parts.ts'
import { dialect } from './wire.ts'

// Decodes tools, thinking and response format.

export const readTool: Read<Tool> = (value, path) => {
  const body = objectValue(value, path)
  const place = { body, path }
  const type = optional(place, 'type', anyText) ?? 'custom'
  if (type !== 'custom') return remember<Tool>({ type: 'native', dialect, body }, { dialect, body, path })
  const fields = optionalFields(place, { description: anyText, strict: booleanValue })
  const name = required(place, 'name', nonEmptyText)
  const parameters = required(place, 'input_schema', objectValue)
  const tool: FunctionTool = { type: 'function', name, strict: false, ...fields, parameters, ...readCachePoint(body, path) }
  return remember(tool, { dialect, body, path })
}

const choices: ReadonlyMap<string, ToolChoice> = new Map<string, ToolChoice>([
  ['auto', 'auto'],
  ['any', 'required'],
  ['none', 'none'],
])

export const readToolChoice: Read<Pick<Prompt, 'tool_choice' | 'parallel_tool_calls'>> = (value, path) => {
  const body = objectValue(value, path)
  const type = required({ body, path }, 'type', nonEmptyText)
  const isSequential = optional({ body, path }, 'disable_parallel_tool_use', booleanValue)
  return { tool_choice: choices.get(type) ?? readNamedChoice(type, body, path), ...(isSequential && { parallel_tool_calls: false }) }
}

const readNamedChoice = (type: string, body: JsonObject, path: string): ToolChoice =>
  remember<ToolChoice & object>(
    type === 'tool' ? { type: 'function', name: required({ body, path }, 'name', nonEmptyText) } : { type: 'native', dialect, body },
    { dialect, body, path },
  )

interface OutputOptions {
  readonly text?: Prompt['text']
  readonly reasoning?: Prompt['reasoning']
  /** `output_config` and `thinking`, if none of their fields is modelled. */
  readonly passthrough: JsonObject
}

/** Reads `output_config` and `thinking`. `maxTokens`: the output limit, including thinking. */
export function readOutputOptions(body: JsonObject, maxTokens: number | undefined): OutputOptions {
  const config = optional({ body, path: '' }, 'output_config', objectValue)
  const place = { body: config ?? {}, path: 'output_config' }
  const format = optional(place, 'format', readFormat)
  const effort = optional(place, 'effort', readEffort)
  const thinking = optional({ body, path: '' }, 'thinking', objectValue)
  const known = thinking && readThinking(thinking, maxTokens)
  const reasoning = known || effort ? { ...(effort && { effort }), ...known } : undefined
  return {
    ...(config && format && { text: remember({ format }, { dialect, body: config, path: 'output_config' }) }),
    ...(reasoning && { reasoning: remember(reasoning, { dialect, body: { thinking, output_config: config }, path: 'thinking' }) }),
    passthrough: {
      ...(config && !format && !effort && Object.keys(config).length > 0 && { output_config: config }),
      ...(thinking && !known && { thinking }),
    },
  }
}

const readEffort = literalOf('none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max')

const readFormat: Read<TextFormat> = (value, path) => {
  const body = objectValue(value, path)
  const type = required({ body, path }, 'type', literalOf('json_schema'))
  return { type, name: 'answer', schema: required({ body, path }, 'schema', objectValue) }
}

type Reasoning = NonNullable<Prompt['reasoning']>

/** Reads `thinking`; undefined if its type is unknown. */
function readThinking(body: JsonObject, maxTokens: number | undefined): Reasoning | undefined {
  const place = { body, path: 'thinking' }
  const type = required(place, 'type', nonEmptyText)
  const display = optional(place, 'display', anyText)
  const summary = display === undefined ? undefined : summaryByDisplay.get(display)
  const shown = summary === undefined ? {} : { summary }
  if (type === 'disabled') return { effort: 'none' }
  // The model decides how much to think, unless `output_config.effort` is set.
  if (type === 'adaptive') return shown
  if (type !== 'enabled') return undefined
  const budget_tokens = required(place, 'budget_tokens', integerBetween(1))
  return { effort: effortForBudget(budget_tokens, maxTokens), summary: 'auto', ...shown, budget_tokens }
}

const summaryByDisplay: ReadonlyMap<string, string> = new Map([
  ['summarized', 'auto'],
  ['omitted', 'none'],
])
