import type { Quirks } from '../protocol/model.ts'
import type { Effort, Prompt } from '../protocol/request.ts'
import type { Warning } from '../protocol/response.ts'
import type { SchemaFitter, SchemaRules } from '../protocol/schemas.ts'
import type { FunctionTool } from '../protocol/tool.ts'
import type { DialectName, Json, JsonObject } from '../protocol/wire.ts'
import { type FeatureId, type FieldTable, features } from './features.ts'
import { makeSchemaFitter, schemaWarnings } from './fit-schemas.ts'
import { type FittedNames, fittedNames } from './fitted-names.ts'
import { isGatewayField } from './gateway-fields.ts'
import { contentLost, unsupported } from './part-warnings.ts'

/** Default values of fields. Dropping a field with its default value changes nothing, so it gets no warning. */
const defaults: ReadonlyMap<string, Json> = new Map<string, Json>([
  ['temperature', 1],
  ['top_p', 1],
  ['frequency_penalty', 0],
  ['presence_penalty', 0],
  ['logprobs', false],
  ['top_logprobs', 0],
  ['n', 1],
  ['store', false],
  ['verbosity', 'medium'],
  ['parallel_tool_calls', true],
  ['tool_choice', 'auto'],
  ['service_tier', 'auto'],
  ['truncation', 'disabled'],
])

const leftOut = 'is not supported by this provider and was left out.'

/** The body of a provider request while it is encoded, with warnings about what it cannot express. */
export class BodyDraft {
  readonly quirks: Quirks
  readonly schemas: SchemaFitter
  readonly warnings: Warning[]
  /** The names of tools as the provider accepts them. */
  toolNames: FittedNames = fittedNames([], name => name)
  // A Map, because a client's field may be called `__proto__`.
  readonly #fields = new Map<string, Json>()

  constructor(quirks: Quirks, schemas: SchemaFitter = makeSchemaFitter(), warnings: Warning[] = []) {
    this.quirks = quirks
    this.schemas = schemas
    this.warnings = warnings
  }

  get body(): JsonObject {
    return Object.fromEntries(this.#fields)
  }

  get(field: string): Json | undefined {
    return this.#fields.get(field)
  }

  /** Sets a field. Undefined sets nothing. */
  set(field: string, value: Json | undefined): void {
    if (value !== undefined) this.#fields.set(field, value)
  }

  /** Sets fields of an object. */
  assign(fields: JsonObject | undefined): void {
    for (const [field, value] of Object.entries(fields ?? {})) this.set(field, value)
  }

  /** Sets an object that has at least one field. */
  setObject(field: string, value: JsonObject): void {
    if (Object.values(value).some(inner => inner !== undefined)) this.set(field, value)
  }

  /** Adds the provider's fixed fields, unless they are set. */
  addFixedFields(): void {
    for (const [field, value] of Object.entries(this.quirks.fixedFields ?? {})) if (!this.#fields.has(field)) this.set(field, value)
  }

  delete(field: string): void {
    this.#fields.delete(field)
  }

  warn(param: string, message: string): void {
    this.warnings.push(unsupported(param, message))
  }

  /** Warns that a field of the prompt is left out. */
  omit(param: string, reason = leftOut): void {
    this.warn(param, `\`${param}\` ${reason}`)
  }

  /** Reports a part of the conversation that cannot be sent, so that the request is not sent either. */
  loseContent(param: string, reason = 'is not supported by the API of this provider.'): void {
    this.warnings.push(contentLost(param, `\`${param}\` ${reason}`))
  }

  /** Warns about settings that the dialect never sends, in the order of its table. */
  omitUnsent(prompt: Prompt, fields: FieldTable): void {
    for (const id of Object.keys(fields) as FeatureId[]) {
      const feature = features.get(id)
      if (fields[id] !== 'unsent' || !feature?.isUsed(prompt)) continue
      const value = new Map(Object.entries(prompt)).get(feature.param)
      const hasNoEffect = value !== undefined && (value === defaults.get(feature.param) || (Array.isArray(value) && value.length === 0))
      if (!hasNoEffect) this.omit(feature.param)
    }
  }

  /** Warns about the entries of `include`, except those that only ask for extra data. */
  omitIncludes({ include = [] }: Prompt, harmless: readonly string[] = []): void {
    for (const [at, name] of include.entries())
      if (name !== 'reasoning.encrypted_content' && !harmless.includes(name)) this.omit(`include[${at}]`)
  }

  /** Warns about body fields of a client of another dialect. */
  omitForeign({ native }: Prompt, dialect: DialectName): void {
    if (native && native.dialect !== dialect) for (const field of Object.keys(native.body)) this.omit(field)
  }

  /**
   * Removes fields that the offer refuses. A field with its default value is removed without a warning. `names`: the names of fields in
   * warnings, where they are others in a prompt.
   */
  refuse(fields: readonly string[] = this.quirks.refuses ?? [], names?: ReadonlyMap<string, string>): void {
    const lost = new Set<string>()
    for (const field of fields) {
      const value = this.#fields.get(field)
      this.#fields.delete(field)
      if (value !== undefined && value !== null && value !== defaults.get(field)) lost.add(names?.get(field) ?? field)
    }
    for (const param of lost) this.omit(param)
  }

  /** Clamps a number. `message`: what a warning says of the value that was used. */
  clamp(
    field: string,
    { min = Number.NEGATIVE_INFINITY, max = Number.POSITIVE_INFINITY },
    message: (sent: number, used: number) => string,
  ): void {
    const value = this.#fields.get(field)
    if (typeof value !== 'number' || (value >= min && value <= max)) return
    const used = Math.min(max, Math.max(min, value))
    this.#fields.set(field, used)
    this.warn(field, message(value, used))
  }

  /**
   * Removes fields that only the gateway sets, because a provider may be a gateway itself. `own`: fields of the provider's dialect, which
   * are set elsewhere.
   */
  dropGatewayFields(own: ReadonlySet<string>): void {
    for (const field of [...this.#fields.keys()]) {
      if (!isGatewayField(field) || own.has(field)) continue
      this.#fields.delete(field)
      this.omit(field, 'is set by the gateway and was left out.')
    }
  }

  /** Merges the caller's parameters for this provider, after all other fields. `path`: where they come from. */
  extend(extensions: JsonObject | undefined, path = 'extensions'): void {
    for (const [field, value] of Object.entries(extensions ?? {})) {
      if (isGatewayField(field)) this.refuseExtension(field, path)
      else this.set(field, value)
    }
  }

  refuseExtension(field: string, path = 'extensions'): void {
    this.warn(`${path}.${field}`, `\`${field}\` is set by the gateway; the extension was left out.`)
  }

  /** Whether a tool is sent as strict, at the path `param`. */
  isStrict({ strict }: FunctionTool, param: string): boolean {
    if (strict !== true) return false
    const isRefused = this.quirks.refuses?.includes('strict') === true
    if (isRefused) this.omit(`${param}.strict`)
    return !isRefused
  }

  /** The schema at `param` as the provider accepts it. `source`: the object that it was made from. */
  fitSchema(param: string, schema: JsonObject, rules: SchemaRules, source?: JsonObject): JsonObject {
    const fitted = this.schemas.fit(schema, rules, source)
    this.warnings.push(...schemaWarnings(param, fitted))
    return fitted.schema
  }

  /** The nearest effort that the offer supports. */
  nearestEffort(effort: Effort, known: readonly string[] | undefined): Effort | undefined {
    const near = nearestEffort(effort, known)
    if (near === undefined) this.warn('reasoning.effort', 'This model does not support `reasoning.effort`; it was left out.')
    else if (near !== effort)
      this.warn('reasoning.effort', `Reasoning effort "${effort}" is not supported by this model; "${near}" was used.`)
    return near
  }
}

const ladder: readonly Effort[] = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max']

/** The effort itself, else the next lower known one, else the next higher. `none` does not count as lower: it disables reasoning. */
export function nearestEffort(effort: Effort, known: readonly string[] | undefined): Effort | undefined {
  if (!known || known.includes(effort)) return effort
  const rung = ladder.indexOf(effort)
  const isKnown = (each: Effort): boolean => known.includes(each)
  return ladder.slice(1, Math.max(rung, 1)).findLast(isKnown) ?? ladder.slice(rung + 1).find(isKnown) ?? ladder.find(isKnown)
}
