/** Prices of an offer in microdollars per million tokens. */
export interface OfferPrice {
  readonly input: number
  readonly output: number
  /** Cache reads. Default: the `input` price. */
  readonly cached?: number
  /** Cache writes. Default: the `input` price. */
  readonly cacheWrite?: number
  /** Cache writes with a one-hour lifetime. Default: twice the `input` price. */
  readonly cacheWrite1h?: number
}

/** A model as one provider sells it, which the router chooses among. */
export interface RouterOffer {
  /** Unique among the offers. Learned state is kept by this id. */
  readonly id: string
  /** Offers of one provider tend to fail together. Default: the id. */
  readonly provider?: string
  /** Responses of one model are assumed to be about equally long at every provider. Default: all offers share one model. */
  readonly model?: string
  /** Microdollars per million tokens. */
  readonly price: OfferPrice
  /** How long the provider keeps a prompt cached, in milliseconds. Default: 300,000. */
  readonly cacheMs?: number
}
