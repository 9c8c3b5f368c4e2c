import type { EncodedRequest, ProviderDialect } from '../../protocol/dialect.ts'
import type { Offer, Quirks } from '../../protocol/model.ts'
import type { InferenceRequest, Prompt } from '../../protocol/request.ts'
import type { Warning } from '../../protocol/response.ts'
import type { JsonObject } from '../../protocol/wire.ts'
import { dropRefused, unsupported } from '../apply-quirks.ts'
import { decodeFailedAnswer } from '../failure.ts'
import { makeSchemaFitter } from '../fit-schemas.ts'
import { cachePoints, oneWarning } from '../lossy-marks.ts'
import { applyServiceTier } from '../service-tier.ts'
import { decodeEvents, decodeResponse } from './decode-stream.ts'
import { extendGemini } from './extensions.ts'
import { readSettings, refusedBy, wantsLogprobs, writeFormat, writeSettings } from './generation-config.ts'
import { type Manner, writeContents } from './items.ts'
import { isOfToday, writeThinking } from './thinking.ts'
import { namesIn } from './tool-names.ts'
import { writeTools } from './tools.ts'
import { dialect } from './wire.ts'

/** The model and whether to stream stand in the address: a field that is not known in the body is refused. */
function encodeRequest(request: InferenceRequest, offer: Offer, quirks: Quirks): EncodedRequest {
  const { prompt, schemas = makeSchemaFitter() } = request
  const names = namesIn(prompt)
  const format = writeFormat(prompt, quirks, schemas)
  const words = [prompt.instructions, format.instruction].filter(text => text !== undefined)
  const today = isOfToday(quirks)
  const manner: Manner = {
    names,
    richResults: today,
    signatures: quirks.thought_signatures ?? today,
    noSystem: quirks.no_system === true,
    refuses: { file: quirks.files === false, audio: quirks.audio === false },
  }
  const { contents, systemInstruction, warnings } = writeContents(prompt.input, words, manner)
  const tools = writeTools(prompt, quirks, { names, schemas })
  const thinking = writeThinking(prompt, quirks)
  const settled = settle(request, offer, quirks)
  const { service_tier: tier, ...settings } = settled.body
  const generationConfig = { ...writeSettings(settings), ...format.fields, ...thinking.fields }
  const body = {
    ...(prompt.native?.dialect === dialect && prompt.native.body),
    contents,
    ...(systemInstruction && { systemInstruction }),
    ...tools.fields,
    ...(Object.keys(generationConfig).length > 0 && { generationConfig }),
    ...(typeof tier === 'string' && !unnamed.has(tier) && { serviceTier: tier }),
  }
  const told = [...warnings, ...tools.warnings, ...format.warnings, ...thinking.warnings, ...settled.warnings, ...unsayable(prompt)]
  const extended = extendGemini({ body, warnings: told }, prompt.extensions)
  return { ...extended, ...(names.changed.size > 0 && { reading: { toolNames: names.changed } }) }
}

/** Tiers that are the usual one, which has no name of its own in most languages. */
const unnamed: ReadonlySet<string> = new Set(['auto', 'default', 'standard_only'])

/** The plain settings, under our names, as far as the offer takes them. */
function settle({ prompt, routing }: InferenceRequest, { price }: Offer, quirks: Quirks): ReturnType<typeof readSettings> {
  const { body, warnings } = readSettings(prompt)
  const asked = { body: { ...body, ...(prompt.service_tier !== undefined && { service_tier: prompt.service_tier }) }, warnings }
  const heeded = applyServiceTier(asked, routing, { price, quirks })
  return dropRefused(heeded, { refuses: refusedBy(quirks, prompt) })
}

/** Extra data that callers ask for on the off chance; where there is none, nothing is lost. */
const harmless: ReadonlySet<string> = new Set([wantsLogprobs, 'reasoning.encrypted_content'])

const unheard = ['user', 'safety_identifier', 'prompt_cache_key'] as const

/**
 * What this language has no words for. Silent are only `metadata`, which is echoed by us and no provider's business,
 * `max_tool_calls`, which caps hosted tools alone, and the default truncation.
 */
function unsayable(prompt: Prompt): readonly Warning[] {
  const { truncation, include = [], text, native } = prompt
  const lost = (param: string): Warning => unsupported(param, `\`${param}\` has no counterpart here and was left out.`)
  const foreign = native && native.dialect !== dialect ? Object.keys(native.body) : []
  return [
    ...(truncation !== undefined && truncation !== 'disabled' ? [lost('truncation')] : []),
    ...include.flatMap((name, at) => (harmless.has(name) ? [] : [lost(`include[${at}]`)])),
    ...(text?.verbosity === undefined ? [] : [lost('text.verbosity')]),
    ...unheard.filter(field => prompt[field] !== undefined).map(lost),
    ...foreign.map(lost),
    ...oneWarning(
      cachePoints(prompt, () => false),
      'marks what may be cached; this provider takes no such marks, and it was left out.',
    ),
  ]
}

/** What is counted is what is sent. */
function encodeCounting(request: InferenceRequest, offer: Offer, quirks: Quirks): EncodedRequest {
  const { body, warnings } = encodeRequest(request, offer, quirks)
  const { contents, systemInstruction, tools } = body
  const id = offer.provider_model_id
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

function decodeCount({ totalTokens }: JsonObject): number | undefined {
  return typeof totalTokens === 'number' && Number.isSafeInteger(totalTokens) && totalTokens >= 0 ? totalTokens : undefined
}

export const geminiProvider: ProviderDialect = {
  name: dialect,
  encodeRequest,
  decodeResponse,
  decodeEvents,
  decodeFailure: decodeFailedAnswer,
  counting: { encodeRequest: encodeCounting, decode: decodeCount },
}
