import type { Model } from '@signalbox/dialects/protocol'
import { formatPath } from './fault.ts'
import type { Catalog } from './stored.ts'

/** The path of a model in the input, for messages about it. */
export type ModelPath = (at: number, model: Model) => readonly PropertyKey[]

const inList: ModelPath = at => ['models', at]

/** Problems with duplicates: names claimed by two models, offers, and provider facts. */
export function duplicatesIn({ models, providers }: Pick<Catalog, 'models' | 'providers'>, pathOf: ModelPath = inList): readonly string[] {
  const owners = new Map<string, number>()
  const problems: string[] = []
  for (const [at, model] of models.entries()) {
    const { id, aliases = [] } = model
    for (const [index, name] of [id, ...aliases].entries()) {
      const owner = owners.get(name)
      const path = [...pathOf(at, model), ...(index === 0 ? ['id'] : ['aliases', index - 1])]
      if (owner === undefined) owners.set(name, at)
      else if (owner !== at)
        problems.push(
          `${formatPath(path)} is "${name}", which is a name of "${models[owner]?.id}" already; it takes a name that no other model has.`,
        )
    }
    const offers = model.offers.map(offer => [offer.provider, offer.model, offer.api].join(' '))
    const twice = offers.find((offer, index) => offers.indexOf(offer) !== index)
    if (twice !== undefined)
      problems.push(`${formatPath([...pathOf(at, model), 'offers'])} holds "${twice}" twice; it takes each offer once.`)
  }
  const ids = providers.map(({ id }) => id)
  const doubles = new Set(ids.filter((id, index) => ids.indexOf(id) !== index))
  return [...problems, ...[...doubles].map(id => `\`providers\` holds "${id}" twice; it takes the facts of each provider once.`)]
}
