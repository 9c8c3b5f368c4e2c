import type { Model } from '@signalbox/core/protocol'
import type { Catalog } from './catalog.ts'
import { spelled } from './fault.ts'

/** Where a model stands, for whoever has to put it right. */
export type Place = (at: number, model: Model) => readonly PropertyKey[]

const inList: Place = at => ['models', at]

/** What is there twice: names that two models claim, since a request must mean one thing, and facts of a provider. */
export function doublesIn({ models, providers }: Pick<Catalog, 'models' | 'providers'>, placeOf: Place = inList): readonly string[] {
  const owners = new Map<string, number>()
  const problems: string[] = []
  for (const [at, model] of models.entries()) {
    const { id, aliases = [] } = model
    for (const [index, name] of [id, ...aliases].entries()) {
      const owner = owners.get(name)
      const place = [...placeOf(at, model), ...(index === 0 ? ['id'] : ['aliases', index - 1])]
      if (owner === undefined) owners.set(name, at)
      else if (owner !== at)
        problems.push(
          `${spelled(place)} is "${name}", which is a name of "${models[owner]?.id}" already; it takes a name that nobody else has.`,
        )
    }
    const offers = model.offers.map(offer => [offer.provider, offer.provider_model_id, offer.dialect].join(' '))
    const twice = offers.find((offer, place) => offers.indexOf(offer) !== place)
    if (twice !== undefined)
      problems.push(`${spelled([...placeOf(at, model), 'offers'])} holds "${twice}" twice; it takes each offer once.`)
  }
  const ids = providers.map(({ id }) => id)
  const doubles = new Set(ids.filter((id, at) => ids.indexOf(id) !== at))
  return [...problems, ...[...doubles].map(id => `\`providers\` holds "${id}" twice; it takes the facts of each provider once.`)]
}

/** The known name that is most like it, if any is: at most half of its letters differ. */
export function nearestTo(name: string, known: Iterable<string>): string | undefined {
  const asked = name.slice(0, longest).toLowerCase()
  let nearest: string | undefined
  let least = 0.5
  for (const candidate of known) {
    const other = candidate.slice(0, longest).toLowerCase()
    const share = distance(asked, other) / Math.max(asked.length, other.length, 1)
    if (share > least || (nearest !== undefined && share === least)) continue
    nearest = candidate
    least = share
  }
  return nearest
}

/** Nobody mistypes more than that, and the work grows with its square. */
const longest = 100

/** How many letters to put in, take out or change. */
function distance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, at) => at)
  for (const [index, letter] of [...from].entries()) {
    const next = [index + 1]
    for (const [at, other] of [...to].entries()) {
      const change = (row[at] ?? 0) + (letter === other ? 0 : 1)
      next.push(Math.min(change, (row[at + 1] ?? 0) + 1, (next[at] ?? 0) + 1))
    }
    row = next
  }
  return row.at(-1) ?? 0
}
