import { toBase64Url } from '../runtime/base64.ts'
import { nameOffers } from './layout.ts'
import type { RouterOffer } from './port.ts'
import type { Note } from './recorder.ts'
import { bound } from './trace.ts'

/** What the texts of offers are made of does not change, and nearly every request has offers that were there before. */
const texts = new WeakMap<RouterOffer, string>()

/**
 * The decisions of one request as `encodeTraceText` would write them, at a tenth of the price: their bytes are copied, and not
 * read and written anew. `most`: bytes of decisions; the first is there in any case, the later ones while they fit in.
 */
export function flightText(notes: readonly Note[], { seed, most }: { readonly seed: number; readonly most: number }): string {
  const offers: RouterOffer[] = []
  const numberOf = (offer: RouterOffer): number => {
    const known = offers.indexOf(offer)
    return known >= 0 ? known : offers.push(offer) - 1
  }
  const records: DataView<ArrayBuffer>[] = []
  let left = most
  for (const { bytes, offers: among } of notes) {
    left -= bytes.byteLength
    if (left < 0 && records.length > 0) break
    const record = new DataView(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength) as ArrayBuffer)
    nameOffers(record, among.map(numberOf))
    records.push(record)
  }
  const shared = `{"seed":${seed},"dropped":${notes.length - records.length},"offers":[${offers.map(textOf).join()}]}`
  return toBase64Url(bound(records, shared))
}

function textOf(offer: RouterOffer): string {
  const known = texts.get(offer)
  if (known !== undefined) return known
  const text = JSON.stringify(copied(offer))
  texts.set(offer, text)
  return text
}

/** What an owner keeps beside an offer is nobody's who reads a trace. */
export function copied({ id, provider, model, price, cacheMs }: RouterOffer): RouterOffer {
  const { input, output, cached, cache_write, cache_write_1h } = price
  return {
    id,
    ...(provider !== undefined && { provider }),
    ...(model !== undefined && { model }),
    price: {
      input,
      output,
      ...(cached !== undefined && { cached }),
      ...(cache_write !== undefined && { cache_write }),
      ...(cache_write_1h !== undefined && { cache_write_1h }),
    },
    ...(cacheMs !== undefined && { cacheMs }),
  }
}
