import type { Model } from '@signalbox/dialects/protocol'

// Spellings of model names that are used elsewhere: ids of hosts, dated snapshots, other separators.

/** Longer names find no model. */
const maxNameLength = 200

/** Prefixes that hosts add to model names: regions of Bedrock, folders of Fireworks and Cloudflare, an author. */
const hostPrefix = /^(global|us|eu|apac|jp|in|au|ca|sa|me|af|us-gov)\./
const authorPrefix =
  /^(anthropic|amazon|openai|meta|mistral|qwen|deepseek|moonshotai|moonshot|minimax|zai|xai|nvidia|google|writer|ai21|cohere)\./
/** Suffixes that hosts add, and dates of snapshots. Each pattern is anchored and reads a bounded number of characters. */
const suffixes = [
  /-v\d{1,2}(:\d{1,2})?$/,
  /@(default|\d{8})$/,
  /-20\d\d-?\d\d-?\d\d$/,
  /-\d\d-20\d\d$/,
  /-maas$/,
  /-(versatile|instant)$/,
  /-instruct$/,
  /-it$/,
]

/** The normal form of a name: lower case, the last segment of a path, `-` for `.` and `_`. */
function plainNameOf(name: string): string {
  // OpenRouter puts `~` before names that resolve to the newest model.
  const lower = name.toLowerCase().replace('~', '')
  const last = lower.slice(lower.lastIndexOf('/') + 1)
  return last.replace(hostPrefix, '').replace(authorPrefix, '').replaceAll(/[._]/g, '-')
}

/** The name without the suffixes of hosts and snapshots. */
const baseNameOf = (plain: string): string => suffixes.reduce((base, suffix) => base.replace(suffix, ''), plain)

/** Undefined if several models have the name. */
type NameIndex = ReadonlyMap<string, Model | undefined>

function indexOf(models: readonly Model[], namesOf: (model: Model) => Iterable<string>): NameIndex {
  const index = new Map<string, Model | undefined>()
  for (const model of models)
    for (const name of namesOf(model)) index.set(name, index.has(name) && index.get(name) !== model ? undefined : model)
  return index
}

const spellingsOf = ({ id, aliases = [], offers }: Model): readonly string[] => [
  id,
  ...aliases,
  ...offers.flatMap(({ model, regions = [] }) => [model, ...regions.map(region => region.model)]),
]

/**
 * Finds models by spellings that are neither an id nor an alias. An ambiguous spelling finds none.
 *
 * @example modelNames(models)('openai/GPT-4o-2024-08-06') // the model "gpt-4o"
 */
export function modelNames(models: readonly Model[]): (name: string) => Model | undefined {
  let indexes: readonly [own: NameIndex, plain: NameIndex, base: NameIndex] | undefined
  const made = (): readonly [NameIndex, NameIndex, NameIndex] => {
    const plainNames = (model: Model): readonly string[] => spellingsOf(model).map(plainNameOf)
    return [
      indexOf(models, ({ id }) => [plainNameOf(id)]),
      indexOf(models, plainNames),
      indexOf(models, model => plainNames(model).map(baseNameOf)),
    ]
  }
  return name => {
    if (name.length > maxNameLength) return undefined
    // Created on first use, because most gateways never need another spelling.
    indexes ??= made()
    const [own, plain, base] = indexes
    const spelled = plainNameOf(name)
    return own.get(spelled) ?? plain.get(spelled) ?? base.get(baseNameOf(spelled))
  }
}
