import { readAllowedTools } from '../common/allowed-tools.ts'
import { type Encoded, unsupported } from '../common/apply-quirks.ts'
import { schemaWarnings } from '../common/fit-schemas.ts'
import type { FittedNames } from '../common/fitted-names.ts'
import { stringOf } from '../common/json.ts'
import { strictSchemaRules } from '../common/schema-rules.ts'
import type { Quirks } from '../protocol/model.ts'
import type { Prompt, ToolChoice } from '../protocol/request.ts'
import type { Warning } from '../protocol/response.ts'
import type { SchemaFitter } from '../protocol/schemas.ts'
import type { FunctionTool } from '../protocol/tool.ts'
import type { JsonObject } from '../protocol/wire.ts'
import { cachePointAfter } from './cache-points.ts'
import type { EncodedFormat } from './encode-format.ts'
import type { Conversation } from './items.ts'

// A conversation with tool calls must declare tools, and there is no tool choice "none", so an instruction replaces it.

export interface EncodedTools {
  readonly toolConfig?: JsonObject
  /** Anthropic's own fields, for `additionalModelRequestFields`. */
  readonly fields: JsonObject
  readonly instruction?: string
  readonly warnings: readonly Warning[]
}

interface ToolContext {
  readonly conversation: Conversation
  readonly answerTool: EncodedFormat['answerTool']
  /** Whether the model supports forced tool calls. */
  readonly canForceCall: boolean
  readonly schemas: SchemaFitter
  readonly toolNames: FittedNames
}

export function encodeTools(prompt: Prompt, quirks: Quirks, context: ToolContext): EncodedTools {
  const { specs, warnings } = encodeSpecs(prompt, quirks, context)
  const canCall = specs.length > 0 && prompt.tool_choice !== 'none'
  const { answerTool, canForceCall, toolNames } = context
  const encoded = answerTool
    ? withAnswerTool(prompt, canCall ? specs : [], { answerTool, toolNames })
    : canCall
      ? withChoice(prompt, { specs, quirks, canForceCall, toolNames })
      : withoutCalls(prompt, specs, context)
  return { ...encoded, warnings: [...warnings, ...encoded.warnings] }
}

type Specs = readonly JsonObject[]

function encodeSpecs(
  { tools = [], tool_choice }: Prompt,
  quirks: Quirks,
  { schemas, toolNames }: ToolContext,
): { readonly specs: Specs; readonly warnings: readonly Warning[] } {
  const allowed = readAllowedTools(tool_choice)
  const warnings: Warning[] = []
  const specs = tools.flatMap((tool, at): Specs => {
    const param = `tools[${at}]`
    if (tool.type === 'native') {
      warnings.push(unsupported(param, `\`${param}\` (${stringOf(tool.body.type)}) is not supported by this provider and was left out.`))
      return []
    }
    if (allowed && !allowed.names.includes(tool.name)) return []
    const encoded = encodeSpec(tool, param, { quirks, schemas, toolNames })
    warnings.push(...encoded.warnings)
    return [encoded.body, ...cachePointAfter(tool.cache)]
  })
  return { specs, warnings }
}

function encodeSpec(
  { name, description = '', parameters, strict }: FunctionTool,
  param: string,
  { quirks, schemas, toolNames }: { readonly quirks: Quirks } & Pick<ToolContext, 'schemas' | 'toolNames'>,
): Encoded {
  const schema: JsonObject = parameters ? { ...parameters, type: 'object' } : { type: 'object', properties: {} }
  const isRefused = strict === true && quirks.refuses?.includes('strict') === true
  const isStrict = strict === true && !isRefused
  const fit = isStrict ? schemas.fit(schema, strictSchemaRules, parameters) : { schema, changes: [] }
  const toolSpec = {
    name: toolNames.sent(name),
    ...(description.trim() !== '' && { description }),
    inputSchema: { json: fit.schema },
    ...(isStrict && { strict: true }),
  }
  const refusal = isRefused
    ? [unsupported(`${param}.strict`, `\`${param}.strict\` is not supported by this provider and was left out.`)]
    : []
  return { body: { toolSpec }, warnings: [...refusal, ...schemaWarnings(`${param}.parameters`, fit)] }
}

type AnswerContext = Pick<ToolContext, 'toolNames'> & { readonly answerTool: NonNullable<EncodedFormat['answerTool']> }

/** Forces the answer tool. If there are other tools, the model may call those first. */
function withAnswerTool(prompt: Prompt, specs: Specs, { answerTool, toolNames }: AnswerContext): EncodedTools {
  const { name, spec } = answerTool
  const { tool_choice: choice } = prompt
  const named = typeof choice === 'object' && choice.type === 'function' ? toolNames.sent(choice.name) : undefined
  const toolChoice = specs.length > 0 && named === undefined ? { any: {} } : { tool: { name: specs.length > 0 ? named : name } }
  return { toolConfig: { tools: [...specs, { toolSpec: spec }], toolChoice }, fields: {}, warnings: parallelWarnings(prompt, specs) }
}

/** Forbids tool calls, but declares tools if earlier calls require them. */
function withoutCalls({ tool_choice: choice }: Prompt, specs: Specs, { conversation, toolNames }: ToolContext): EncodedTools {
  const isForced = choice !== undefined && choice !== 'auto' && choice !== 'none'
  const choiceWarnings = isForced ? [unsupported('tool_choice', '`tool_choice` was left out: no tool is left to choose.')] : []
  if (!conversation.hasTools) return { fields: {}, warnings: choiceWarnings }
  const param = choice === 'none' ? 'tool_choice' : 'tools'
  const message =
    'The conversation holds tool calls, so this provider requires tool definitions; the prompt asks the model not to call them.'
  return {
    toolConfig: { tools: specs.length > 0 ? specs : inferredSpecs(conversation, toolNames) },
    fields: {},
    instruction: 'Do not call any tool. Answer in words.',
    warnings: [...choiceWarnings, unsupported(param, message)],
  }
}

/** Specs for tools that were called but not declared. */
const inferredSpecs = ({ calledTools }: Conversation, toolNames: FittedNames): readonly JsonObject[] =>
  [...(calledTools.size > 0 ? calledTools : ['tool'])].map(name => ({
    toolSpec: { name: toolNames.sent(name), inputSchema: { json: { type: 'object' } } },
  }))

interface ChoiceContext {
  readonly specs: Specs
  readonly quirks: Quirks
  readonly canForceCall: boolean
  readonly toolNames: FittedNames
}

function withChoice(prompt: Prompt, { specs, quirks, canForceCall, toolNames }: ChoiceContext): EncodedTools {
  const { tool_choice: choice, parallel_tool_calls } = prompt
  const { type, name, warnings } = encodeChoice(choice, canForceCall, toolNames)
  const named = name !== undefined && { name }
  if (parallel_tool_calls === false && quirks.anthropicFields) {
    // Anthropic's own `tool_choice` cannot be combined with `toolChoice`.
    const tool_choice = { type, ...named, disable_parallel_tool_use: true }
    return { toolConfig: { tools: specs }, fields: { tool_choice }, warnings }
  }
  const toolConfig = { tools: specs, ...(choice !== undefined && { toolChoice: { [type]: { ...named } } }) }
  return { toolConfig, fields: {}, warnings: [...warnings, ...parallelWarnings(prompt, specs)] }
}

const parallelWarnings = ({ parallel_tool_calls }: Prompt, specs: Specs): readonly Warning[] =>
  parallel_tool_calls === false && specs.length > 0
    ? [
        unsupported(
          'parallel_tool_calls',
          'This provider does not support `parallel_tool_calls: false`; the model may make several tool calls at once.',
        ),
      ]
    : []

interface EncodedChoice {
  readonly type: 'auto' | 'any' | 'tool'
  readonly name?: string
  readonly warnings: readonly Warning[]
}

function encodeChoice(choice: ToolChoice | undefined, canForceCall: boolean, toolNames: FittedNames): EncodedChoice {
  const auto = (...warnings: readonly Warning[]): EncodedChoice => ({ type: 'auto', warnings })
  if (choice === undefined || choice === 'auto' || choice === 'none') return auto()
  const allowed = readAllowedTools(choice)
  if (allowed && !allowed.isForced) return auto()
  const isForeign = choice !== 'required' && choice.type === 'native' && !allowed
  if (isForeign) return auto(unsupported('tool_choice', '`tool_choice` is not supported by this provider and was left out.'))
  if (!canForceCall)
    return auto(
      unsupported('tool_choice', 'This provider does not support a required tool call; the model decides whether to call a tool.'),
    )
  if (choice !== 'required' && choice.type === 'function') return { type: 'tool', name: toolNames.sent(choice.name), warnings: [] }
  return { type: 'any', warnings: [] }
}
