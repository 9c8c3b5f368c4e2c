import { pathOf } from '../../protocol/original.ts'
import type { FunctionTool, Prompt, Tool, ToolChoice } from '../../protocol/request.ts'
import { isObject, type Json, type JsonObject } from '../../protocol/wire.ts'
import { schemaWarnings } from '../fit-schemas.ts'
import { objects, stringOf } from '../json.ts'
import type { WrittenFormat } from './response-format.ts'
import { dialect, originalBody } from './wire.ts'
import { lose, mark, marked, nameOf, type Writing, warn } from './encode-context.ts'

// Tools, and the choice among them.

export interface ToolFacts {
  /** The tool whose arguments are the answer. */
  readonly format: WrittenFormat
  /** A call may be demanded. */
  readonly canForce: boolean
}

export function writeTools(prompt: Prompt, { format, canForce }: ToolFacts, writing: Writing): JsonObject {
  const allowed = allowedNames(prompt.tool_choice)
  const tools = (prompt.tools ?? []).flatMap((tool, at) => {
    const isAllowed = tool.type !== 'function' || !allowed || allowed.has(tool.name)
    const written = isAllowed ? writeTool(tool, pathOf(tool, `tools[${at}]`), writing) : undefined
    return written ? [written] : []
  })
  if (format.tool)
    return { tools: [...tools, format.tool], tool_choice: { ...answering(tools, prompt, format), disable_parallel_tool_use: true } }
  if (tools.length > 0) return { tools, ...writeChoice(prompt, canForce, writing) }
  if (isDemand(prompt.tool_choice)) warn(writing, 'tool_choice', '`tool_choice` was left out: no tool is left to choose.')
  return {}
}

/** With other tools beside it the model chooses: another tool first, or the answer. */
const answering = (tools: readonly JsonObject[], { tool_choice }: Prompt, { answerTool = '' }: WrittenFormat): JsonObject =>
  tools.length > 0 && tool_choice !== 'none' ? { type: 'any' } : { type: 'tool', name: answerTool }

/** Without tools there is nothing to choose, which matters only to who demanded a call. */
const isDemand = (choice: ToolChoice | undefined): boolean => choice !== undefined && choice !== 'auto' && choice !== 'none'

function writeTool(tool: Tool, param: string, writing: Writing): JsonObject | undefined {
  if (tool.type === 'native') {
    if (tool.dialect === dialect) return marked(tool.body, param, writing)
    lose(writing, param)
    return undefined
  }
  const known = originalBody(tool)
  const written = known ? marked(known, param, writing) : { ...writeFunction(tool, param, writing), ...mark(tool.cache, param, writing) }
  if (!tool.strict || !writing.quirks.refuses?.includes('strict')) return written
  warn(writing, `${param}.strict`, `\`${param}.strict\` is not supported here and was left out.`)
  const { strict, ...rest } = written
  return rest
}

function writeFunction({ name, description, parameters, strict }: FunctionTool, param: string, writing: Writing): JsonObject {
  const given: JsonObject = { type: 'object', ...(parameters ?? { properties: {} }) }
  const isHeld = strict === true && !writing.quirks.refuses?.includes('strict')
  const fitted = isHeld ? writing.schemas.fit(given, 'messages', parameters) : undefined
  if (fitted) writing.warnings.push(...schemaWarnings(`${param}.parameters`, fitted))
  return {
    name: nameOf(name, writing),
    ...(description !== undefined && { description }),
    input_schema: fitted?.schema ?? given,
    ...(typeof strict === 'boolean' && { strict }),
  }
}

/** `allowed_tools` is a list of this request's tools; here the same is said by not offering the others. */
function allowedNames(choice: ToolChoice | undefined): ReadonlySet<string> | undefined {
  const allowed = allowedTools(choice)
  if (!allowed) return undefined
  return new Set(objects(allowed.tools).map(({ name, function: inner }) => stringOf(name) || stringOf(isObject(inner) ? inner.name : '')))
}

/** Its fields stand in an object of their own in one of the languages that have it. */
function allowedTools(choice: ToolChoice | undefined): JsonObject | undefined {
  if (typeof choice !== 'object' || choice.type !== 'native' || choice.body.type !== 'allowed_tools') return undefined
  return isObject(choice.body.allowed_tools) ? choice.body.allowed_tools : choice.body
}

const forced: ReadonlySet<Json | undefined> = new Set(['any', 'tool'])

function writeChoice({ tool_choice, parallel_tool_calls }: Prompt, canForce: boolean, writing: Writing): JsonObject {
  const asked = tool_choice === undefined ? undefined : choiceOf(tool_choice, writing)
  const isRefused = asked !== undefined && !canForce && forced.has(asked.type)
  if (isRefused)
    warn(writing, 'tool_choice', 'A tool call cannot be demanded of this model, or not while it thinks; it was left to choose.')
  const choice = isRefused ? { type: 'auto' } : asked
  if (parallel_tool_calls !== false || choice?.type === 'none') return choice ? { tool_choice: choice } : {}
  return { tool_choice: { ...(choice ?? { type: 'auto' }), disable_parallel_tool_use: true } }
}

const choices: Readonly<Record<'auto' | 'none' | 'required', string>> = { auto: 'auto', none: 'none', required: 'any' }

function choiceOf(choice: ToolChoice, writing: Writing): JsonObject | undefined {
  if (typeof choice === 'string') return { type: choices[choice] }
  if (choice.type === 'function') return { type: 'tool', name: nameOf(choice.name, writing) }
  if (choice.dialect === dialect) return choice.body
  const allowed = allowedTools(choice)
  if (allowed) return { type: allowed.mode === 'required' ? 'any' : 'auto' }
  lose(writing, 'tool_choice')
  return undefined
}
