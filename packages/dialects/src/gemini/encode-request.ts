import { dropRefused, type Encoded, extend, unsupported } from '../common/apply-quirks.ts'
import { makeSchemaFitter } from '../common/fit-schemas.ts'
import { type FittedNames, fittedNames } from '../common/fitted-names.ts'
import { hashedCallId } from '../common/ids.ts'
import { combinedWarning, lostCachePoints, lostCitations } from '../common/part-warnings.ts'
import { logprobsInclude } from '../common/sampling.ts'
import { applyServiceTier, commonTiers, tierField } from '../common/service-tier.ts'
import { toolNamesIn } from '../common/tool-names.ts'
import type { EncodedRequest } from '../protocol/dialect.ts'
import type { Offer, Quirks } from '../protocol/model.ts'
import type { InferenceRequest, Prompt } from '../protocol/request.ts'
import type { Warning } from '../protocol/response.ts'
import { isObject, type Json, type JsonObject } from '../protocol/wire.ts'
import { encodeFormat } from './encode-format.ts'
import { encodeThinking, thinksByLevel } from './encode-thinking.ts'
import { encodeTools } from './encode-tools.ts'
import { collectSettings, encodeSettings, refusedSettings } from './generation-config.ts'
import { type ContentOptions, encodeContents } from './items.ts'
import { dialect } from './wire.ts'

/** Encodes a request. Model and delivery are not in the body: both are part of the URL, and unknown fields are rejected. */
export function encodeRequest(request: InferenceRequest, offer: Offer, quirks: Quirks): EncodedRequest {
  const { prompt, schemas = makeSchemaFitter() } = request
  const names = toolNamesOf(prompt)
  const format = encodeFormat(prompt, quirks, schemas)
  const system = [prompt.instructions, format.instruction].filter(text => text !== undefined)
  const isCurrent = thinksByLevel(quirks)
  const options: ContentOptions = {
    names,
    allowsMediaResults: quirks.textOnlyResults !== true,
    needsSignatures: quirks.thoughtSignatures ?? isCurrent,
    takesOwnImages: quirks.ownImages === true,
    noPrefill: quirks.noPrefill === true,
    noSystem: quirks.noSystem === true,
    refuses: { file: quirks.files === false, audio: quirks.audio === false },
  }
  const { contents, systemInstruction, warnings } = encodeContents(prompt.input, system, options)
  const tools = encodeTools(prompt, quirks, { names, schemas })
  const thinking = encodeThinking(prompt, quirks)
  const accepted = acceptedSettings(request, offer, quirks)
  const { service_tier: tier, ...settings } = accepted.body
  const generationConfig = { ...encodeSettings(settings), ...format.fields, ...thinking.fields }
  const body = {
    ...(prompt.native?.dialect === dialect && prompt.native.body),
    contents,
    ...(systemInstruction && { systemInstruction }),
    ...tools.fields,
    ...(Object.keys(generationConfig).length > 0 && { generationConfig }),
    ...(typeof tier === 'string' && tier !== 'default' && { serviceTier: tier }),
  }
  const encoded = [tools, format, thinking, accepted].flatMap(each => each.warnings)
  const extended = extendGemini({ body, warnings: [...warnings, ...encoded, ...unsupportedFields(prompt)] }, prompt.extensions)
  return { ...extended, ...(names.changed.size > 0 && { mapping: { toolNames: names.changed } }) }
}

/** Encodes a request for the provider's token counter. */
export function encodeCounting(request: InferenceRequest, offer: Offer, quirks: Quirks): EncodedRequest {
  const { body, warnings } = encodeRequest(request, offer, quirks)
  const { contents, systemInstruction, tools } = body
  const id = offer.model
  const model = id.includes('/') ? id : `models/${id}`
  return {
    body: {
      generateContentRequest: {
        model,
        contents,
        ...(systemInstruction !== undefined && { systemInstruction }),
        ...(tools !== undefined && { tools }),
      },
    },
    warnings,
  }
}

const maxNameLength = 64
/** Tool names start with a letter or `_` and contain letters, digits and `_.:-`. */
const isValidName = (name: string): boolean => name.length <= maxNameLength && /^[A-Za-z_][\w.:-]*$/.test(name)

const cleanName = (name: string): string => name.replaceAll(/[^\w.:-]/g, '_').replace(/^(?![A-Za-z_])/, '_')

/** The names of a prompt's tools as sent: without the characters that are not allowed, with a hash if that is too long or taken. */
const toolNamesOf = (prompt: Prompt): FittedNames => fittedNames(toolNamesIn(prompt), fitName)

function fitName(name: string, attempt: number): string {
  if (isValidName(name)) return name
  const plain = cleanName(name)
  if (plain.length > maxNameLength) return withHash(plain, hashedCallId(name, attempt))
  return attempt === 0 ? plain : withHash(plain, hashedCallId(name, attempt - 1))
}

const hashLength = 8
const withHash = (plain: string, hash: string): string =>
  `${plain.slice(0, maxNameLength - hashLength - 1)}_${hash.slice('call_'.length, 'call_'.length + hashLength)}`

/** Settings and service tier under internal names, without those that the offer rejects. */
function acceptedSettings({ prompt, routing }: InferenceRequest, { price }: Offer, quirks: Quirks): Encoded {
  const { body, warnings } = collectSettings(prompt)
  const tier = tierField(prompt, commonTiers, quirks)
  const requested = { body: { ...body, ...tier.body }, warnings: [...warnings, ...tier.warnings] }
  const tiered = applyServiceTier(requested, routing, { price, quirks })
  return dropRefused(tiered, { refuses: refusedSettings(quirks, prompt) })
}

/** Optional extra data. Omitting it changes nothing, so there is no warning. */
const ignoredIncludes: ReadonlySet<string> = new Set([logprobsInclude, 'reasoning.encrypted_content'])

const unsupportedSettings = ['user', 'safety_identifier', 'prompt_cache_key'] as const

const omitted = (param: string): Warning => unsupported(param, `\`${param}\` is not supported by this provider and was left out.`)

/**
 * Warnings for the fields that this dialect cannot express. None for `metadata`, which only the gateway echoes, `max_tool_calls`, which
 * limits only hosted tools, and the default truncation.
 */
function unsupportedFields(prompt: Prompt): readonly Warning[] {
  const { truncation, include = [], text, native } = prompt
  const foreign = native && native.dialect !== dialect ? Object.keys(native.body) : []
  return [
    ...(truncation !== undefined && truncation !== 'disabled' ? [omitted('truncation')] : []),
    ...include.flatMap((name, at) => (ignoredIncludes.has(name) ? [] : [omitted(`include[${at}]`)])),
    ...(text?.verbosity === undefined ? [] : [omitted('text.verbosity')]),
    ...unsupportedSettings.filter(field => prompt[field] !== undefined).map(omitted),
    ...foreign.map(omitted),
    ...lostCitations(prompt.input),
    ...combinedWarning(
      lostCachePoints(prompt, () => false),
      'is a cache marker, which this provider does not support; it was left out.',
    ),
  ]
}

/** Settings that only the gateway may change: the hold covers this many tokens and candidates. */
const gatewaySettings: ReadonlySet<string> = new Set(['maxOutputTokens', 'candidateCount'])

/** The provider also accepts each field in snake case. */
const toCamelCase = (field: string): string => field.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())

/** Merges provider-specific parameters. `generationConfig` is merged field by field, because the gateway sets most of them. */
function extendGemini({ body, warnings }: Encoded, extensions: JsonObject = {}): Encoded {
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
