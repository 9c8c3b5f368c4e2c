import { type EmbeddingModelV4, type ImageModelV4, type LanguageModelV4, NoSuchModelError, type ProviderV4 } from '@ai-sdk/provider'
import type { Gateway } from '@signalbox/gateway'
import { createLanguageModel, type ModelSettings } from './language-model.ts'

export type { ModelSettings } from './language-model.ts'

/** The models of a gateway, for the AI SDK. `ModelId`: their ids and aliases, as far as they were given to `createGateway` in literals. */
export interface SignalboxProvider<ModelId extends string = string> extends ProviderV4 {
  (modelId: ModelId): LanguageModelV4
  /** @deprecated The AI SDK's former name of `embeddingModel`. */
  textEmbeddingModel(modelId: string): EmbeddingModelV4
}

/**
 * An AI SDK provider whose models are those of a gateway in the same process: there is no HTTP between the two, and keys, limits and
 * money are those of the HTTP endpoints. A model is named by its id or an alias; `model_not_found` comes with the first call.
 *
 * The caller is the key of `settings`, or the one that a call names itself: `headers: { authorization: 'Bearer ak_…' }`.
 *
 * @throws NoSuchModelError for models of another kind: the gateway has language models only.
 * @example
 * const models = signalbox(gateway, { apiKey: 'ak_…' })
 * const { text } = await generateText({ model: models('small'), prompt: 'Hello' })
 * @example
 * globalThis.AI_SDK_DEFAULT_PROVIDER = signalbox(gateway, { apiKey: 'ak_…' })
 * const { text } = await generateText({ model: 'small', prompt: 'Hello' })
 */
export function signalbox<ModelId extends string>(gateway: Gateway<ModelId>, settings: ModelSettings = {}): SignalboxProvider<ModelId> {
  const languageModel = (modelId: string): LanguageModelV4 => createLanguageModel(gateway, modelId, settings)
  const embeddingModel = (modelId: string): EmbeddingModelV4 => noSuchModel(modelId, 'embeddingModel')
  const imageModel = (modelId: string): ImageModelV4 => noSuchModel(modelId, 'imageModel')
  return Object.assign((modelId: string) => languageModel(modelId), {
    specificationVersion: 'v4' as const,
    languageModel,
    embeddingModel,
    textEmbeddingModel: embeddingModel,
    imageModel,
  })
}

function noSuchModel(modelId: string, modelType: 'embeddingModel' | 'imageModel'): never {
  throw new NoSuchModelError({
    modelId,
    modelType,
    message: `Signalbox has language models only, and "${modelId}" is asked for as another.`,
  })
}
