import { dropRefused, type Encoded } from '../common/apply-quirks.ts'
import { makeSchemaFitter } from '../common/fit-schemas.ts'
import { applyServiceTier, commonTiers, tierField } from '../common/service-tier.ts'
import type { EncodedRequest } from '../protocol/dialect.ts'
import type { Offer, Quirks } from '../protocol/model.ts'
import type { InferenceRequest } from '../protocol/request.ts'
import { extendGemini } from './encode-extensions.ts'
import { encodeFormat } from './encode-format.ts'
import { encodeThinking, thinksByLevel } from './encode-thinking.ts'
import { encodeTools } from './encode-tools.ts'
import { collectSettings, encodeSettings, refusedSettings } from './generation-config.ts'
import { type ContentOptions, encodeContents } from './items.ts'
import { toolNamesOf } from './tool-names.ts'
import { unsupportedFields } from './unsupported-fields.ts'
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

/** Settings and service tier under internal names, without those that the offer rejects. */
function acceptedSettings({ prompt, routing }: InferenceRequest, { price }: Offer, quirks: Quirks): Encoded {
  const { body, warnings } = collectSettings(prompt)
  const tier = tierField(prompt, commonTiers, quirks)
  const requested = { body: { ...body, ...tier.body }, warnings: [...warnings, ...tier.warnings] }
  const tiered = applyServiceTier(requested, routing, { price, quirks })
  return dropRefused(tiered, { refuses: refusedSettings(quirks, prompt) })
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
