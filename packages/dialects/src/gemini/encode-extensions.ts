import { type Encoded, extend, unsupported } from '../common/apply-quirks.ts'
import { isObject, type Json, type JsonObject } from '../protocol/wire.ts'

/** Settings that only the gateway may change: the hold covers this many tokens and candidates. */
const gatewaySettings: ReadonlySet<string> = new Set(['maxOutputTokens', 'candidateCount'])

/** The provider also accepts each field in snake case. */
const toCamelCase = (field: string): string => field.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())

/** Merges provider-specific parameters. `generationConfig` is merged field by field, because the gateway sets most of them. */
export function extendGemini({ body, warnings }: Encoded, extensions: JsonObject = {}): Encoded {
  const { generationConfig, generation_config, ...others } = extensions
  const config = new Map<string, Json | undefined>(Object.entries(isObject(body.generationConfig) ? body.generationConfig : {}))
  const refused: string[] = []
  for (const extension of [generationConfig, generation_config]) {
    if (extension === undefined) continue
    if (!isObject(extension)) refused.push('generationConfig')
    for (const [field, value] of isObject(extension) ? Object.entries(extension) : []) {
      if (gatewaySettings.has(toCamelCase(field))) refused.push(`generationConfig.${field}`)
      else config.set(toCamelCase(field), value)
    }
  }
  const extended = config.size > 0 ? { ...body, generationConfig: Object.fromEntries(config) } : body
  const refusals = refused.map(field =>
    unsupported(`extensions.${field}`, `\`${field}\` is set by the gateway; the extension was left out.`),
  )
  return extend({ body: extended, warnings: [...warnings, ...refusals] }, others)
}
