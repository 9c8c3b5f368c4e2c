import { isObject, type Json, type JsonObject } from '../../protocol/wire.ts'
import { type Encoded, extend, unsupported } from '../apply-quirks.ts'

// Parameters for this provider alone. It reads each field in two spellings, so both are looked at.

/** What money was set aside for. */
const capped: ReadonlySet<string> = new Set(['maxOutputTokens', 'candidateCount'])

const camel = (field: string): string => field.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())

/** Merged last. `generationConfig` field by field, since most of it was written by us. */
export function extendGemini({ body, warnings }: Encoded, extensions: JsonObject = {}): Encoded {
  const { generationConfig, generation_config, ...others } = extensions
  const config = new Map<string, Json | undefined>(Object.entries(isObject(body.generationConfig) ? body.generationConfig : {}))
  const held: string[] = []
  for (const given of [generationConfig, generation_config]) {
    if (given === undefined) continue
    if (!isObject(given)) held.push('generationConfig')
    for (const [field, value] of isObject(given) ? Object.entries(given) : []) {
      if (capped.has(camel(field))) held.push(`generationConfig.${field}`)
      else config.set(camel(field), value)
    }
  }
  const extended = config.size > 0 ? { ...body, generationConfig: Object.fromEntries(config) } : body
  const left = held.map(field => unsupported(`extensions.${field}`, `\`${field}\` is decided by the gateway; the extension was left out.`))
  return extend({ body: extended, warnings: [...warnings, ...left] }, others)
}
