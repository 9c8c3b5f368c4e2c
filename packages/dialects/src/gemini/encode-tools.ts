import { readAllowedTools } from '../common/allowed-tools.ts'
import { unsupported } from '../common/apply-quirks.ts'
import { schemaWarnings } from '../common/fit-schemas.ts'
import type { FittedNames } from '../common/fitted-names.ts'
import { stringOf } from '../common/json.ts'
import type { Quirks } from '../protocol/model.ts'
import type { Prompt, ToolChoice } from '../protocol/request.ts'
import type { Warning } from '../protocol/response.ts'
import type { SchemaFitter } from '../protocol/schemas.ts'
import type { FunctionTool } from '../protocol/tool.ts'
import { isObject, type JsonObject } from '../protocol/wire.ts'
import { schemaRules } from './schema-rules.ts'
import { dialect } from './wire.ts'

interface ToolContext {
  readonly names: FittedNames
  readonly schemas: SchemaFitter
}

interface EncodedTools {
  readonly fields: JsonObject
  readonly warnings: readonly Warning[]
}

/** Encodes `tools` and `toolConfig`. */
export function encodeTools(prompt: Prompt, quirks: Quirks, context: ToolContext): EncodedTools {
  const { tool_choice: choice, parallel_tool_calls } = prompt
  const { functions, others, isStrict, warnings } = encodeDeclarations(prompt, quirks, context)
  const tools = [...(functions.length > 0 ? [{ functionDeclarations: functions }] : []), ...others]
  const isForced = choice !== undefined && choice !== 'auto' && choice !== 'none'
  // Only functions can be chosen.
  if (functions.length === 0 && isForced)
    warnings.push(unsupported('tool_choice', '`tool_choice` was left out: no tool is left to choose.'))
  if (tools.length === 0) return { fields: {}, warnings }
  if (parallel_tool_calls === false)
    warnings.push(
      unsupported(
        'parallel_tool_calls',
        'This provider does not support `parallel_tool_calls: false`; the model may make several tool calls at once.',
      ),
    )
  const toolConfig = functions.length > 0 ? encodeChoice({ choice, isStrict, names: context.names }, quirks, warnings) : undefined
  return { fields: { tools, ...(toolConfig && { toolConfig }) }, warnings }
}

interface Declarations {
  readonly functions: JsonObject[]
  /** Tools of this dialect that are not functions. */
  readonly others: JsonObject[]
  isStrict: boolean
  readonly warnings: Warning[]
}

function encodeDeclarations({ tools = [] }: Prompt, quirks: Quirks, { names, schemas }: ToolContext): Declarations {
  const declarations: Declarations = { functions: [], others: [], isStrict: false, warnings: [] }
  const { functions, others, warnings } = declarations
  for (const [at, tool] of tools.entries()) {
    const param = `tools[${at}]`
    if (tool.type === 'function') {
      const fit = (schema: JsonObject): JsonObject => {
        const fitted = schemas.fit(schema, schemaRules)
        warnings.push(...schemaWarnings(`${param}.parameters`, fitted))
        return fitted.schema
      }
      functions.push(encodeFunction(tool, names, fit))
      const isRefused = tool.strict === true && quirks.refuses?.includes('strict')
      if (isRefused)
        warnings.push(unsupported(`${param}.strict`, `\`${param}.strict\` is not supported by this provider and was left out.`))
      declarations.isStrict ||= tool.strict === true && !isRefused
    } else if (tool.dialect === dialect) others.push(tool.body)
    else warnings.push(unsupported(param, `\`${param}\` (${stringOf(tool.body.type)}) is not supported by this provider and was left out.`))
  }
  return declarations
}

const encodeFunction = (
  { name, description, parameters }: FunctionTool,
  names: FittedNames,
  fit: (schema: JsonObject) => JsonObject,
): JsonObject => ({
  name: names.sent(name),
  ...(description !== undefined && { description }),
  ...(parameters && !isEmptySchema(parameters) && { parametersJsonSchema: fit(parameters) }),
})

/** Whether a tool takes no parameters. An object schema without properties is rejected. */
const isEmptySchema = (schema: JsonObject): boolean =>
  Object.entries(schema).every(
    ([key, value]) =>
      key === 'type' ||
      key === '$schema' ||
      key === 'title' ||
      key === 'required' ||
      (key === 'additionalProperties' && value === false) ||
      (key === 'properties' && isObject(value) && Object.keys(value).length === 0),
  )

interface ChoiceContext {
  readonly choice: ToolChoice | undefined
  /** Whether arguments must match their schemas. */
  readonly isStrict: boolean
  readonly names: FittedNames
}

const callingConfig = (mode: string, allowedFunctionNames?: readonly string[]): JsonObject => ({
  functionCallingConfig: { mode, ...(allowedFunctionNames && { allowedFunctionNames }) },
})

function encodeChoice({ choice, isStrict, names }: ChoiceContext, quirks: Quirks, warnings: Warning[]): JsonObject | undefined {
  const auto = isStrict ? callingConfig('VALIDATED') : undefined
  if (choice === undefined || choice === 'auto') return auto
  if (choice === 'none') return callingConfig('NONE')
  if (choice !== 'required' && choice.type === 'native' && choice.dialect === dialect) return choice.body
  const requested = readChoice(choice)
  if (!requested) {
    warnings.push(unsupported('tool_choice', '`tool_choice` is not supported by this provider and was left out.'))
    return auto
  }
  const allowed = requested.names?.map(names.sent)
  if (requested.isForced && quirks.noForcedTools) {
    warnings.push(
      unsupported('tool_choice', 'This provider does not support a required tool call; the model decides whether to call a tool.'),
    )
    return allowed ? callingConfig('VALIDATED', allowed) : auto
  }
  return callingConfig(requested.isForced ? 'ANY' : 'VALIDATED', allowed)
}

/** Whether a call is forced, and which tools may be called. */
function readChoice(choice: ToolChoice): { readonly isForced: boolean; readonly names?: readonly string[] } | undefined {
  if (typeof choice === 'string') return { isForced: choice === 'required' }
  return choice.type === 'function' ? { isForced: true, names: [choice.name] } : readAllowedTools(choice)
}
