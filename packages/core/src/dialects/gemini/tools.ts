import type { Quirks } from '../../protocol/model.ts'
import type { FunctionTool, Prompt, ToolChoice } from '../../protocol/request.ts'
import type { Warning } from '../../protocol/response.ts'
import type { SchemaFitter } from '../../protocol/schemas.ts'
import { isObject, type JsonObject } from '../../protocol/wire.ts'
import { unsupported } from '../apply-quirks.ts'
import { schemaWarnings } from '../fit-schemas.ts'
import { objects, stringOf } from '../json.ts'
import type { Names } from './tool-names.ts'
import { dialect } from './wire.ts'

// Tools, and the choice among them.

export interface ToolContext {
  readonly names: Names
  readonly schemas: SchemaFitter
}

export interface WrittenTools {
  readonly fields: JsonObject
  readonly warnings: readonly Warning[]
}

export function writeTools(
  { tools = [], tool_choice, parallel_tool_calls }: Prompt,
  quirks: Quirks,
  { names, schemas }: ToolContext,
): WrittenTools {
  const warnings: Warning[] = []
  const fitted = (schema: JsonObject, param: string): JsonObject => {
    const fit = schemas.fit(schema, 'gemini')
    warnings.push(...schemaWarnings(param, fit))
    return fit.schema
  }
  const functions: JsonObject[] = []
  const others: JsonObject[] = []
  let strict = false
  for (const [at, tool] of tools.entries()) {
    const param = `tools[${at}]`
    if (tool.type === 'function') {
      functions.push(writeTool(tool, names, schema => fitted(schema, `${param}.parameters`)))
      const refused = tool.strict === true && quirks.refuses?.includes('strict')
      if (refused) warnings.push(unsupported(`${param}.strict`, `\`${param}.strict\` is not supported here and was left out.`))
      strict ||= tool.strict === true && !refused
    } else if (tool.dialect === dialect) others.push(tool.body)
    else warnings.push(unsupported(param, `\`${param}\` (${stringOf(tool.body.type)}) needs a provider of another kind and was left out.`))
  }
  const written = [...(functions.length > 0 ? [{ functionDeclarations: functions }] : []), ...others]
  if (functions.length === 0) warnings.push(...withoutFunctions(tool_choice))
  if (written.length === 0) return { fields: {}, warnings }
  if (parallel_tool_calls === false)
    warnings.push(unsupported('parallel_tool_calls', 'Several tool calls at once cannot be forbidden here; there may be more than one.'))
  const config = functions.length > 0 ? writeChoice({ choice: tool_choice, strict, names }, quirks, warnings) : undefined
  return { fields: { tools: written, ...(config && { toolConfig: config }) }, warnings }
}

function writeTool({ name, description, parameters }: FunctionTool, { sent }: Names, fit: (schema: JsonObject) => JsonObject): JsonObject {
  return {
    name: sent(name),
    ...(description !== undefined && { description }),
    ...(parameters && !takesNothing(parameters) && { parametersJsonSchema: fit(parameters) }),
  }
}

/** A tool without parameters has no schema: an object without properties is refused. */
const takesNothing = (schema: JsonObject): boolean =>
  Object.entries(schema).every(
    ([key, value]) =>
      key === 'type' ||
      key === '$schema' ||
      key === 'title' ||
      key === 'required' ||
      (key === 'additionalProperties' && value === false) ||
      (key === 'properties' && isObject(value) && Object.keys(value).length === 0),
  )

/** Only functions can be chosen, which matters only to who demanded a call. */
const withoutFunctions = (choice: ToolChoice | undefined): readonly Warning[] =>
  choice === undefined || choice === 'auto' || choice === 'none'
    ? []
    : [unsupported('tool_choice', '`tool_choice` was left out: no tool is left to choose.')]

interface Choosing {
  readonly choice: ToolChoice | undefined
  /** Calls must keep to their schemas. */
  readonly strict: boolean
  readonly names: Names
}

const calling = (mode: string, allowedFunctionNames?: readonly string[]): JsonObject => ({
  functionCallingConfig: { mode, ...(allowedFunctionNames && { allowedFunctionNames }) },
})

function writeChoice({ choice, strict, names }: Choosing, quirks: Quirks, warnings: Warning[]): JsonObject | undefined {
  const free = strict ? calling('VALIDATED') : undefined
  if (choice === undefined || choice === 'auto') return free
  if (choice === 'none') return calling('NONE')
  if (choice !== 'required' && choice.type === 'native' && choice.dialect === dialect) return choice.body
  const asked = demandOf(choice)
  if (!asked) {
    warnings.push(unsupported('tool_choice', '`tool_choice` needs a provider of another kind and was left out.'))
    return free
  }
  if (asked.demanded && quirks.no_forced_tools) {
    warnings.push(unsupported('tool_choice', 'A tool call cannot be demanded here; the model was left to choose.'))
    return asked.among ? calling('VALIDATED', asked.among.map(names.sent)) : free
  }
  return calling(asked.demanded ? 'ANY' : 'VALIDATED', asked.among?.map(names.sent))
}

/** Whether a call is demanded, and among which tools. */
function demandOf(choice: ToolChoice): { readonly demanded: boolean; readonly among?: readonly string[] } | undefined {
  if (typeof choice === 'string') return { demanded: choice === 'required' }
  if (choice.type === 'function') return { demanded: true, among: [choice.name] }
  const { body } = choice
  if (body.type !== 'allowed_tools') return undefined
  const { mode, tools } = isObject(body.allowed_tools) ? body.allowed_tools : body
  const among = objects(tools).map(tool => stringOf(tool.name) || stringOf(isObject(tool.function) ? tool.function.name : ''))
  return { demanded: mode === 'required', among: among.filter(name => name !== '') }
}
