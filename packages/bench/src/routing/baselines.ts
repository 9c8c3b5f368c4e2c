import { createRanked, type Policy, type Setting } from './policy.ts'
import { createDice, type Dice } from './random-draws.ts'
import { meanOutput } from './requests.ts'

const shuffled = (count: number, dice: Dice): number[] => {
  const order = Array.from({ length: count }, (_, index) => index)
  for (let at = count - 1; at > 0; at -= 1) {
    const other = dice.below(at + 1)
    ;[order[at], order[other]] = [order[other] ?? 0, order[at] ?? 0]
  }
  return order
}

/** A random offer, then another random one. */
export const random: Policy = {
  name: 'random',
  create: setting => {
    const dice = createDice(setting.seed)
    return createRanked(setting, { rank: () => shuffled(setting.offers.length, dice) })
  },
}

/** Round robin; the fallbacks are the next in turn. */
export const roundRobin: Policy = {
  name: 'round robin',
  create: setting => {
    let turn = -1
    return createRanked(setting, {
      rank: () => {
        turn += 1
        return setting.offers.map((_, index) => (turn + index) % setting.offers.length)
      },
    })
  },
}

export const priceOf = ({ price }: Setting['offers'][number], inputTokens: number): number =>
  price.input * inputTokens + price.output * meanOutput

/** The cheapest list price for this prompt, the others by price after it. */
export const cheapest: Policy = {
  name: 'cheapest',
  create: setting => {
    const { offers } = setting
    return createRanked(setting, {
      rank: ({ inputTokens }) => {
        const prices = offers.map(offer => priceOf(offer, inputTokens))
        return offers.map((_, index) => index).sort((a, b) => (prices[a] ?? 0) - (prices[b] ?? 0))
      },
    })
  },
}
