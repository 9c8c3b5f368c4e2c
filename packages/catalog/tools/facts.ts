// The file of facts, as far as it is read.

export interface FactPrice {
  readonly in: number
  readonly out: number
  readonly cr?: number
  readonly cw?: number
}

/** One way to say how much to think. Budgets are left out: nobody who reads them lacks a row of core's. */
export interface FactControl {
  readonly effort?: readonly string[]
  readonly toggle?: boolean
}

export interface FactOffer {
  readonly p: string
  readonly id: string
  readonly wire: string
  readonly price: FactPrice | null
  readonly ctx?: number
  readonly out?: number
  readonly in: readonly string[]
  readonly tools?: 1
  readonly so?: 1
  readonly reason?: 1
  readonly effort?: readonly FactControl[]
  /** The field in which a host tells and takes reasoning. */
  readonly interleaved?: string | true
  readonly status?: string
}

export interface FactModel {
  readonly id: string
  readonly aliases: readonly string[]
  readonly name: string
  readonly family: string
  readonly author: string
  readonly released: string
  readonly temperature: boolean
  readonly caps: Readonly<Record<string, boolean>>
  readonly offers: readonly FactOffer[]
}

export interface Facts {
  readonly models: readonly FactModel[]
  readonly meta: { readonly as_of: string }
}
