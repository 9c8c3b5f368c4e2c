import { type Frame, isObject, type Json, type JsonObject } from '@signalbox/dialects/protocol'

// What may go wrong with a right answer, at random: in what it says, in its frames, and in its bytes.

export interface Dice {
  /** From 0 up to, and not including, `below`. */
  readonly int: (below: number) => number
  readonly pick: <T>(list: readonly T[]) => T
  readonly chance: (share: number) => boolean
}

export function diceOf(random: () => number): Dice {
  const int = (below: number): number => Math.floor(random() * below)
  return {
    int,
    pick: list => list[int(list.length)] as (typeof list)[number],
    chance: share => random() < share,
  }
}

const nested = (depth: number): Json => {
  let value: Json = 1
  for (let at = 0; at < depth; at += 1) value = at % 2 ? [value] : { a: value }
  return value
}

/** Stands for lists so deep that `JSON.stringify` could not write them. */
const deep = '@deep@'
const deepText = '['.repeat(8_000) + ']'.repeat(8_000)

/** As JSON. */
export const written = (value: Json | undefined): string => (JSON.stringify(value) ?? '').replaceAll(`"${deep}"`, deepText)

const values: readonly (() => Json)[] = [
  () => null,
  () => -1,
  () => 1e308,
  () => 0.5,
  () => true,
  () => '',
  () => 'x'.repeat(5_000),
  () => '\ud800',
  () => '{"a":',
  () => '__proto__',
  () => [],
  () => ({}),
  () => [[[]]],
  () => ({ toString: 1, constructor: null }),
  () => nested(30),
  () => nested(600),
  () => deep,
  () => Array.from({ length: 300 }, (_, at) => ({ index: at, id: `i${at}`, type: 'text', text: 'x' })),
]

const keys = ['index', 'id', 'type', 'error', 'usage', '__proto__', 'output_index', 'delta', 'content', 'finish_reason', 'toString']

/** One place of a value, some steps down, gets another value, is removed, doubled or renamed. */
export function mutated(value: Json | undefined, dice: Dice, depth = 0): Json {
  if (value === undefined || depth > 12 || dice.chance(0.12)) return dice.pick(values)()
  if (Array.isArray(value)) return mutatedList(value, dice, depth)
  if (isObject(value)) return mutatedObject(value, dice, depth)
  return typeof value === 'string' && dice.chance(0.5) ? value.slice(0, dice.int(value.length + 1)) : dice.pick(values)()
}

function mutatedList(list: readonly Json[], dice: Dice, depth: number): Json {
  if (list.length === 0) return [dice.pick(values)()]
  const at = dice.int(list.length)
  const one = list[at] ?? null
  const put = dice.pick<readonly Json[]>([[], [one, one], [mutated(one, dice, depth + 1)], [mutated(one, dice, depth + 1)]])
  return [...list.slice(0, at), ...put, ...list.slice(at + 1)]
}

function mutatedObject(object: JsonObject, dice: Dice, depth: number): Json {
  const fields = Object.entries(object)
  if (fields.length === 0) return Object.fromEntries([[dice.pick(keys), dice.pick(values)()]])
  const at = dice.int(fields.length)
  const changed = fields.flatMap(([name, value], place): (readonly [string, Json | undefined])[] => {
    if (place !== at) return [[name, value]]
    const how = dice.int(8)
    if (how === 0) return []
    if (how === 1) return [[dice.pick(keys), value]]
    // Fields that the gateway does not read are passed on if client and provider use the same dialect.
    if (how === 2)
      return [
        [name, value],
        [`extra_${dice.int(3)}`, dice.chance(0.3) ? deep : dice.pick(values)()],
      ]
    return [[name, mutated(value, dice, depth + 1)]]
  })
  return Object.fromEntries(changed)
}

const edited = (frame: Frame, dice: Dice): Frame => {
  try {
    return { ...frame, data: written(mutated(JSON.parse(frame.data) as Json, dice)) }
  } catch {
    return { ...frame, data: frame.data.slice(0, dice.int(frame.data.length + 1)) }
  }
}

const strange: readonly Frame[] = [
  { data: '' },
  { data: '[DONE]' },
  { data: '{' },
  { data: '[]' },
  { event: 'error', data: '{"error":{"message":"m"}}' },
  { event: 'validationException', data: '{"message":"m"}' },
  { event: 'ping', data: '{"type":"ping"}' },
]

/** Frames that are changed, left out, sent twice, swapped, added, cut short or cut up. */
export function mutatedFrames(frames: readonly Frame[], dice: Dice): readonly Frame[] {
  const at = dice.int(frames.length)
  const frame = frames[at]
  if (!frame) return [dice.pick(strange)]
  const [before, after] = [frames.slice(0, at), frames.slice(at + 1)]
  const other = dice.int(frames.length)
  const ways: readonly (() => readonly Frame[])[] = [
    () => [...before, edited(frame, dice), ...after],
    () => [...before, edited(frame, dice), ...after],
    () => [...before, edited(frame, dice), ...after],
    () => [...before, ...after],
    () => [...before, frame, frame, ...after],
    () => [...before, dice.pick(strange), frame, ...after],
    () => [...before, dice.pick(frames), frame, ...after],
    () => before,
    () => [...frames, ...frames],
    () => frames.map((each, place) => (place === at ? (frames[other] ?? each) : place === other ? frame : each)),
    () => [...before, { ...frame, event: dice.pick(frames).event ?? 'message' }, ...after],
    () => [...before, { ...frame, data: frame.data.slice(0, dice.int(frame.data.length + 1)) }, ...after],
  ]
  return dice.pick(ways)()
}

/** Bytes that are flipped, left out, repeated or put in. */
export function mutatedBytes(bytes: Uint8Array, dice: Dice): Uint8Array {
  const at = dice.int(bytes.length + 1)
  const length = 1 + dice.int(20)
  const ways: readonly (() => Uint8Array[])[] = [
    () => [bytes.subarray(0, at), bytes.subarray(at + length)],
    () => [bytes.subarray(0, at), bytes.subarray(at, at + length), bytes.subarray(at)],
    () => [bytes.subarray(0, at), Uint8Array.from({ length }, () => dice.int(256)), bytes.subarray(at)],
    () => [bytes.subarray(0, at), Uint8Array.of(dice.int(256)), bytes.subarray(at + 1)],
    () => [bytes.subarray(0, at)],
  ]
  return Buffer.concat(dice.pick(ways)())
}

/** The same bytes in up to twenty pieces. */
export function inPieces(bytes: Uint8Array, dice: Dice): readonly Uint8Array[] {
  const points = Array.from({ length: dice.int(20) }, () => dice.int(bytes.length + 1)).sort((one, other) => one - other)
  const edges = [0, ...points, bytes.length]
  return edges.slice(1).map((end, at) => bytes.slice(edges[at], end))
}
