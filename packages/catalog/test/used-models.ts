import { readFileSync } from 'node:fs'
import type { Model, Offer } from '@signalbox/dialects/protocol'
import { catalog } from '../src/index.ts'

/** Another source's facts about a model at its vendor. Prices in USD per million tokens; 0 if there is none. */
export interface UsedModel {
  readonly price: readonly [input: number, output: number, read: number, write: number]
  readonly long?: readonly (readonly [over: number, input: number, output: number, read: number])[]
  readonly context: number
  readonly output: number
  readonly reasons: boolean
  readonly sees: boolean
}

/**
 * The 60 most used models, as listed by npm:@earendil-works/pi-ai@1.5.2 (2026-11-10). Changed by hand: the context windows of GPT, which it
 * truncates to 272,000 (developers.openai.com: 1,050,000), and the outputs of DeepSeek (393,216, measured).
 */
export const usedModels = JSON.parse(readFileSync(new URL('used-models.json', import.meta.url), 'utf8')) as Readonly<
  Record<string, UsedModel>
>

/** A model with the offer of its maker. */
export function atMaker(id: string): { readonly model: Model; readonly offer: Offer } {
  const model = catalog().models.find(each => each.id === id)
  const offer = model?.offers.find(({ provider }) => provider === model.author)
  if (!model || !offer) throw new Error(`Its maker does not sell ${id}.`)
  return { model, offer }
}
