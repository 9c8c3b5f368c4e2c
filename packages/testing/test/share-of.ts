import { inject } from 'vitest'

/**
 * Every `share`-th of a list in the default run, beginning with another one for each `number`; the whole list in the long run. Where one
 * list is combined with another, and `number` is the place in the other, each of both is tried with some.
 *
 * @example
 * describe.each(shareOf(providerTraits, clients.indexOf(client), 2))('before a provider of $name', …)
 */
export const shareOf = <T>(list: readonly T[], number: number, share: number): readonly T[] =>
  inject('isLongRun') ? list : list.filter((_, at) => (at + number) % share === 0)
