import { BodyDraft } from '../common/body-draft.ts'
import { fittedNames } from '../common/fitted-names.ts'
import { hashedCallId } from '../common/ids.ts'
import { combinedWarning, lostCachePoints, lostCitations } from '../common/part-warnings.ts'
import { logprobsInclude, wantsLogprobs } from '../common/sampling.ts'
import { applyServiceTier, commonTiers, setServiceTier } from '../common/service-tier.ts'
import { toolNamesIn } from '../common/tool-names.ts'
import type { EncodedRequest } from '../protocol/dialect.ts'
import type { Offer, Quirks } from '../protocol/model.ts'
import type { InferenceRequest, Prompt } from '../protocol/request.ts'
import { isObject, type Json, type JsonObject } from '../protocol/wire.ts'
import { encodeThinking, thinksByLevel } from './encode-thinking.ts'
import { encodeFormat, encodeTools } from './encode-tools.ts'
import { fields } from './fidelity.ts'
import { encodeContents } from './items.ts'
import { dialect } from './wire.ts'

/**
 * Encodes a request. Model and delivery are not in the body: both are part of the URL, and unknown fields are rejected. There is no warning
 * for `metadata`, which only the gateway echoes, `max_tool_calls`, which limits only hosted tools, and the default truncation.
 */
export function encodeRequest(request: InferenceRequest, offer: Offer, quirks: Quirks): EncodedRequest {
  const { prompt } = request
  const draft = new BodyDraft(quirks, request.schemas)
  /** `generationConfig`. Its warnings come after those of the conversation and of tools. */
  const config = new BodyDraft(quirks, draft.schemas)
  if (prompt.native?.dialect === dialect) draft.assign(prompt.native.body)
  draft.toolNames = fittedNames(toolNamesIn(prompt), fitName)
  const instruction = encodeFormat(prompt, config)
  encodeContents(prompt, instruction, quirks.thoughtSignatures ?? thinksByLevel(quirks), draft)
  encodeTools(prompt, draft)
  encodeThinking(prompt, config)
  const tier = encodeSettings(request, offer, config)
  if (tier !== 'default') draft.set('serviceTier', tier)
  draft.warnings.push(...config.warnings)
  if (prompt.truncation !== undefined && prompt.truncation !== 'disabled') draft.omit('truncation')
  draft.omitIncludes(prompt, [logprobsInclude])
  draft.omitUnsent(prompt, fields)
  draft.omitForeign(prompt, dialect)
  const cachePoints = lostCachePoints(prompt, () => false)
  draft.warnings.push(
    ...lostCitations(prompt.input),
    ...combinedWarning(cachePoints, 'is a cache marker, which this provider does not support; it was left out.'),
  )
  const { generationConfig, generation_config, ...extensions } = prompt.extensions ?? {}
  for (const extension of [generationConfig, generation_config]) {
    if (isObject(extension)) extendConfig(extension, config, draft)
    else if (extension !== undefined) draft.refuseExtension('generationConfig')
  }
  draft.setObject('generationConfig', config.body)
  draft.extend(extensions)
  const { changed } = draft.toolNames
  return { body: draft.body, warnings: draft.warnings, mapping: changed.size > 0 ? { toolNames: changed } : undefined }
}

/** Encodes a request for the provider's token counter. */
export function encodeCounting(request: InferenceRequest, offer: Offer, quirks: Quirks): EncodedRequest {
  const { body, warnings } = encodeRequest(request, offer, quirks)
  const { contents, systemInstruction, tools } = body
  const model = offer.model.includes('/') ? offer.model : `models/${offer.model}`
  return { body: { generateContentRequest: { model, contents, systemInstruction, tools } }, warnings }
}

const maxNameLength = 64
const hashLength = 8

/** A tool name as sent: without the characters that are not allowed, with a hash if that is too long or taken. */
function fitName(name: string, attempt: number): string {
  // Names start with a letter or `_` and contain letters, digits and `_.:-`.
  if (name.length <= maxNameLength && /^[A-Za-z_][\w.:-]*$/.test(name)) return name
  const plain = name.replaceAll(/[^\w.:-]/g, '_').replace(/^(?![A-Za-z_])/, '_')
  const isLong = plain.length > maxNameLength
  if (!isLong && attempt === 0) return plain
  const hash = hashedCallId(name, isLong ? attempt : attempt - 1).slice('call_'.length, 'call_'.length + hashLength)
  return `${plain.slice(0, maxNameLength - hashLength - 1)}_${hash}`
}

const maxStopSequences = 5

/** Encodes the settings of `generationConfig`, without those that the offer rejects. Returns the service tier. */
function encodeSettings({ prompt, routing }: InferenceRequest, offer: Offer, config: BodyDraft): Json | undefined {
  const { quirks, schemas, warnings } = config
  const { stop = [], top_logprobs = 0, max_output_tokens, temperature, top_p, top_k, seed, frequency_penalty, presence_penalty } = prompt
  // Under the names of the prompt, which warnings and `refuses` use.
  const settings = new BodyDraft(quirks, schemas, warnings)
  settings.assign({ max_output_tokens, temperature, top_p, top_k, seed, frequency_penalty, presence_penalty })
  if (stop.length > 0) settings.set('stop', stop.slice(0, maxStopSequences))
  if (stop.length > maxStopSequences)
    config.warn('stop', `This provider accepts ${maxStopSequences} stop sequences; only the first ${maxStopSequences} were sent.`)
  if (wantsLogprobs(prompt)) settings.set('top_logprobs', top_logprobs)
  setServiceTier(settings, prompt, commonTiers)
  applyServiceTier(settings, routing, offer.price)
  settings.refuse(refusedSettings(prompt, quirks))
  config.assign({
    maxOutputTokens: settings.get('max_output_tokens'),
    temperature: settings.get('temperature'),
    topP: settings.get('top_p'),
    topK: settings.get('top_k'),
    stopSequences: settings.get('stop'),
    seed: settings.get('seed'),
    frequencyPenalty: settings.get('frequency_penalty'),
    presencePenalty: settings.get('presence_penalty'),
  })
  if (settings.get('top_logprobs') !== undefined) config.assign({ responseLogprobs: true, logprobs: top_logprobs || undefined })
  return settings.get('service_tier')
}

/** The settings that the offer rejects. */
function refusedSettings({ reasoning, temperature }: Prompt, quirks: Quirks): readonly string[] {
  const { sampling, refuses = [], thinksUnasked = true, thinkingOff } = quirks
  const known = refuses.includes('logprobs') ? [...refuses, 'top_logprobs'] : refuses
  const effort = reasoning?.effort
  const isThinking = effort === undefined ? thinksUnasked : effort !== 'none' || thinkingOff === 'never'
  if (sampling === 'none' || (sampling === 'unless_thinking' && isThinking)) return [...known, 'temperature', 'top_p', 'top_k']
  return sampling === 'one' && temperature !== undefined ? [...known, 'top_p'] : known
}

/** Settings that only the gateway may change: the hold covers this many tokens and candidates. */
const gatewaySettings: ReadonlySet<string> = new Set(['maxOutputTokens', 'candidateCount'])

/** Merges an extension of `generationConfig` field by field, because the gateway sets most of them. */
function extendConfig(extension: JsonObject, config: BodyDraft, draft: BodyDraft): void {
  for (const [field, value] of Object.entries(extension)) {
    // The provider also accepts each field in snake case.
    const name = field.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())
    if (gatewaySettings.has(name)) draft.refuseExtension(`generationConfig.${field}`)
    else config.set(name, value)
  }
}
