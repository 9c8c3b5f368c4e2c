import type { Quirks } from '../../protocol/model.ts'
import type { FunctionTool, Prompt, ToolChoice } from '../../protocol/request.ts'
import type { Warning } from '../../protocol/response.ts'
import type { SchemaFitter } from '../../protocol/schemas.ts'
import { isObject, type JsonObject } from '../../protocol/wire.ts'
import { type Encoded, unsupported } from '../apply-quirks.ts'
import { schemaWarnings } from '../fit-schemas.ts'
import { objects, stringOf } from '../json.ts'
import type { CacheMarks } from './cache-points.ts'
import type { Conversation } from './items.ts'
import type { WrittenFormat } from './response-format.ts'
import { nameOf } from './wire.ts'

// Tools, and the choice among them. A conversation in which tools were called must declare tools, and there is no word for
// "none": both together are said to the model in words.

export interface WrittenTools {
  readonly toolConfig?: JsonObject
  /** Of Anthropic's own. */
  readonly fields: JsonObject
  readonly instruction?: string
  readonly warnings: readonly Warning[]
}

interface Around {
  readonly conversation: Conversation
  readonly answer: WrittenFormat['answer']
  /** A tool call can be demanded of the model. */
  readonly canDemand: boolean
  readonly marks: CacheMarks
  readonly schemas: SchemaFitter
}

export function writeTools(prompt: Prompt, quirks: Quirks, around: Around): WrittenTools {
  const { tool_choice: choice } = prompt
  const { specs, warnings } = specsOf(prompt, quirks, around)
  const isOffering = specs.length > 0 && choice !== 'none'
  const written = around.answer
    ? answering(prompt, isOffering ? specs : [], around.answer)
    : isOffering
      ? choosing(prompt, { specs, quirks, canDemand: around.canDemand })
      : declaring(prompt, specs, around.conversation)
  return { ...written, warnings: [...warnings, ...written.warnings] }
}

type Specs = readonly JsonObject[]

function specsOf(
  { tools = [], tool_choice }: Prompt,
  quirks: Quirks,
  { marks, schemas }: Around,
): { readonly specs: Specs; readonly warnings: readonly Warning[] } {
  const allowed = allowedIn(tool_choice)
  const warnings: Warning[] = []
  const specs = tools.flatMap((tool, at): Specs => {
    const param = `tools[${at}]`
    if (tool.type === 'native') {
      warnings.push(unsupported(param, `\`${param}\` (${stringOf(tool.body.type)}) needs a provider of another kind and was left out.`))
      return []
    }
    if (allowed && !allowed.names.has(tool.name)) return []
    const written = writeTool(tool, param, { quirks, schemas })
    warnings.push(...written.warnings)
    return [written.body, ...marks.after(tool.cache)]
  })
  return { specs, warnings }
}

function writeTool(
  { name, description = '', parameters, strict }: FunctionTool,
  param: string,
  { quirks, schemas }: { readonly quirks: Quirks; readonly schemas: SchemaFitter },
): Encoded {
  const schema: JsonObject = parameters ? { ...parameters, type: 'object' } : { type: 'object', properties: {} }
  const isRefused = strict === true && quirks.refuses?.includes('strict') === true
  const isStrict = strict === true && !isRefused
  const fit = isStrict ? schemas.fit(schema, 'bedrock', parameters) : { schema, changes: [] }
  const toolSpec = {
    name: nameOf(name),
    ...(description.trim() !== '' && { description }),
    inputSchema: { json: fit.schema },
    ...(isStrict && { strict: true }),
  }
  const refusal = isRefused ? [unsupported(`${param}.strict`, `\`${param}.strict\` is not supported here and was left out.`)] : []
  return { body: { toolSpec }, warnings: [...refusal, ...schemaWarnings(`${param}.parameters`, fit)] }
}

/** The answer is asked for through a tool, beside those of the caller. */
function answering(prompt: Prompt, specs: Specs, { name, spec }: NonNullable<WrittenFormat['answer']>): WrittenTools {
  const { tool_choice: choice } = prompt
  const named = typeof choice === 'object' && choice.type === 'function' ? nameOf(choice.name) : undefined
  const toolChoice = specs.length > 0 && named === undefined ? { any: {} } : { tool: { name: specs.length > 0 ? named : name } }
  return { toolConfig: { tools: [...specs, { toolSpec: spec }], toolChoice }, fields: {}, warnings: several(prompt, specs) }
}

/** Nothing may be called; but calls that were made want their tools declared. */
function declaring({ tool_choice: choice }: Prompt, specs: Specs, conversation: Conversation): WrittenTools {
  const demandless =
    choice === undefined || choice === 'auto' || choice === 'none'
      ? []
      : [unsupported('tool_choice', '`tool_choice` was left out: no tool is left to choose.')]
  if (!conversation.hasTools) return { fields: {}, warnings: demandless }
  const param = choice === 'none' ? 'tool_choice' : 'tools'
  const message = 'The conversation holds tool calls, so tools had to be declared; the model was told not to call them.'
  return {
    toolConfig: { tools: specs.length > 0 ? specs : recalled(conversation) },
    fields: {},
    instruction: 'Do not call any tool. Answer in words.',
    warnings: [...demandless, unsupported(param, message)],
  }
}

interface Choosing {
  readonly specs: Specs
  readonly quirks: Quirks
  readonly canDemand: boolean
}

function choosing(prompt: Prompt, { specs, quirks, canDemand }: Choosing): WrittenTools {
  const { tool_choice: choice, parallel_tool_calls } = prompt
  const { kind, name, warnings } = demandOf(choice, canDemand)
  const named = name !== undefined && { name }
  if (parallel_tool_calls === false && quirks.anthropic_fields) {
    // The two ways to choose exclude each other.
    const tool_choice = { type: kind, ...named, disable_parallel_tool_use: true }
    return { toolConfig: { tools: specs }, fields: { tool_choice }, warnings }
  }
  const toolConfig = { tools: specs, ...(choice !== undefined && { toolChoice: { [kind]: { ...named } } }) }
  return { toolConfig, fields: {}, warnings: [...warnings, ...several(prompt, specs)] }
}

/** Tools that nobody described: all that is known of them is that they were called. */
const recalled = ({ called }: Conversation): readonly JsonObject[] =>
  [...(called.size > 0 ? called : ['tool'])].map(name => ({ toolSpec: { name: nameOf(name), inputSchema: { json: { type: 'object' } } } }))

const several = ({ parallel_tool_calls }: Prompt, specs: Specs): readonly Warning[] =>
  parallel_tool_calls === false && specs.length > 0
    ? [unsupported('parallel_tool_calls', 'Several tool calls at once cannot be forbidden here; there may be more than one.')]
    : []

interface Allowed {
  readonly names: ReadonlySet<string>
  readonly isDemanded: boolean
}

/** `allowed_tools` is a list of this request's tools; here the same is said by not offering the others. */
function allowedIn(choice: ToolChoice | undefined): Allowed | undefined {
  if (typeof choice !== 'object' || choice.type !== 'native' || choice.body.type !== 'allowed_tools') return undefined
  const { mode, tools } = isObject(choice.body.allowed_tools) ? choice.body.allowed_tools : choice.body
  const names = objects(tools).map(tool => stringOf(tool.name) || stringOf(isObject(tool.function) ? tool.function.name : ''))
  return { names: new Set(names), isDemanded: mode === 'required' }
}

interface Demand {
  readonly kind: 'auto' | 'any' | 'tool'
  readonly name?: string
  readonly warnings: readonly Warning[]
}

function demandOf(choice: ToolChoice | undefined, canDemand: boolean): Demand {
  const free = (...warnings: readonly Warning[]): Demand => ({ kind: 'auto', warnings })
  if (choice === undefined || choice === 'auto' || choice === 'none') return free()
  const allowed = allowedIn(choice)
  if (allowed && !allowed.isDemanded) return free()
  const isForeign = choice !== 'required' && choice.type === 'native' && !allowed
  if (isForeign) return free(unsupported('tool_choice', '`tool_choice` needs a provider of another kind and was left out.'))
  if (!canDemand) return free(unsupported('tool_choice', 'A tool call cannot be demanded here; the model was left to choose.'))
  if (choice !== 'required' && choice.type === 'function') return { kind: 'tool', name: nameOf(choice.name), warnings: [] }
  return { kind: 'any', warnings: [] }
}
