import { type Dice, many, pick } from './shapes.ts'

// Bodies that almost are what a route takes: one to four places of a good one are changed.

type Value = unknown
interface Place {
  readonly holder: Record<string, Value> | Value[]
  readonly key: string | number
}

const names = [
  'constructor',
  '__proto__',
  'toString',
  'prototype',
  'hasOwnProperty',
  '',
  'type',
  'role',
  '$ref',
  '0',
  '-1',
  'x'.repeat(300),
] as const

/** Values that readers stumble over. */
const odd = (dice: Dice): Value =>
  pick<() => Value>(dice, [
    () => null,
    () => true,
    () => 0,
    () => -1,
    () => 0.5,
    () => 1e308,
    () => 2 ** 53,
    () => -1e-320,
    () => '',
    () => pick(dice, names),
    () => 'x'.repeat(Math.floor(dice() * 3_000)),
    () => '\\"\n\u0000\u2028'.repeat(20),
    () => '\ud800',
    () => '😀'.repeat(9),
    () => '2030-01-31T12:00:00Z',
    () => `data:image/png;base64,${'A'.repeat(64)}`,
    () => [],
    () => ({}),
    () => ({ [pick(dice, names)]: pick(dice, names) }),
    () => ({ toString: 'f' }),
    () => [null],
    () => many(dice() * 200, at => at),
    () => JSON.parse(`${'['.repeat(60)}${']'.repeat(60)}`),
    () => ({ type: pick(dice, ['text', 'function', 'image', 'tool_use', 'native', 'item_reference', 'custom', 'input_audio']) }),
  ])()

function placesOf(value: Value): Place[] {
  const found: Place[] = []
  const left: Value[] = [value]
  for (let next = left.pop(); next !== undefined; next = left.pop()) {
    if (typeof next !== 'object' || next === null) continue
    const holder = next as Record<string, Value> | Value[]
    for (const key of Array.isArray(holder) ? holder.keys() : Object.keys(holder)) {
      found.push({ holder, key })
      const inner = (holder as Record<string, Value>)[key]
      if (typeof inner === 'object' && inner !== null) left.push(inner)
    }
  }
  return found
}

const set = ({ holder, key }: Place, value: Value): void =>
  void Object.defineProperty(holder, key, { value, enumerable: true, configurable: true, writable: true })
const get = ({ holder, key }: Place): Value => (holder as Record<string, Value>)[key]

const changes: readonly ((place: Place, all: readonly Place[], dice: Dice) => void)[] = [
  (place, _, dice) => set(place, odd(dice)),
  (place, _, dice) => set(place, odd(dice)),
  ({ holder, key }) => void (Array.isArray(holder) ? holder.splice(Number(key), 1) : Reflect.deleteProperty(holder, key)),
  (place, all, dice) => set(place, structuredClone(get(pick(dice, all)))),
  ({ holder }, _, dice) => {
    if (Array.isArray(holder)) holder.push(odd(dice))
    else set({ holder, key: pick(dice, names) }, odd(dice))
  },
  (place, _, dice) => {
    const value = get(place)
    if (Array.isArray(value) && value.length > 0) for (let at = 0; at < dice() * 50; at += 1) value.push(structuredClone(value[0]))
    else if (typeof value === 'string') set(place, value.repeat(2 + Math.floor(dice() * 20)))
    else if (typeof value === 'number') set(place, pick(dice, [-value, value * 1e9, value + 0.1, `${value}`]))
    else set(place, [value])
  },
]

/** The same body with some places changed, as text; now and then the text itself is broken. */
export function mutated(body: object, dice: Dice): string {
  const copy = structuredClone(body)
  for (let left = dice() < 0.6 ? 1 : 1 + Math.floor(dice() * 4); left > 0; left -= 1) {
    const places = placesOf(copy)
    if (places.length > 0) pick(dice, changes)(pick(dice, places), places, dice)
  }
  const text = JSON.stringify(copy)
  if (dice() > 0.03) return text
  const at = Math.floor(dice() * text.length)
  return (
    text.slice(0, at) +
    pick(dice, ['', '"', '}', '[', '\\', '\u0000', ',,', '1e999', '"__proto__":{},']) +
    text.slice(at + Math.floor(dice() * 3))
  )
}
