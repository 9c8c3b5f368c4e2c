import { expect, expectTypeOf, test } from 'vitest'
import type { D1Database, d1Storage } from '../src/d1.ts'
import { type ObjectNamespace, StorageObject, type WorkersStorageOptions } from '../src/workers.ts'

// The declarations of `@cloudflare/workers-types` and `wrangler types`, as far as bindings use them.

interface DurableObjectBranded {
  readonly __DURABLE_OBJECT_BRAND: never
}
interface DurableObjectId {
  toString(): string
  equals(other: DurableObjectId): boolean
  readonly name?: string
}
type DurableObjectStub<T extends DurableObjectBranded | undefined> = (T extends DurableObjectBranded ? { readonly of?: T } : unknown) & {
  fetch(input: Request | string | URL, init?: RequestInit): Promise<Response>
  readonly id: DurableObjectId
  readonly name?: string
}
declare abstract class DurableObjectNamespace<T extends DurableObjectBranded | undefined = undefined> {
  newUniqueId(options?: { jurisdiction?: 'eu' | 'us' }): DurableObjectId
  idFromName(name: string): DurableObjectId
  idFromString(id: string): DurableObjectId
  get(id: DurableObjectId, options?: { locationHint?: string }): DurableObjectStub<T>
  getByName(name: string, options?: { locationHint?: string }): DurableObjectStub<T>
}
declare abstract class CloudflareD1 {
  prepare(query: string): D1PreparedStatement
  batch<T = unknown>(statements: D1PreparedStatement[]): Promise<{ results: T[]; success: true }[]>
  exec(query: string): Promise<{ count: number }>
}
declare abstract class D1PreparedStatement {
  bind(...values: unknown[]): D1PreparedStatement
  run<T = Record<string, unknown>>(): Promise<{ results: T[] }>
}

test('bindings of Cloudflare’s own types are accepted, whether or not they name the class', () => {
  expectTypeOf<DurableObjectNamespace>().toExtend<ObjectNamespace>()
  expectTypeOf<DurableObjectNamespace<StorageObject>>().toExtend<WorkersStorageOptions['objects']>()
  expectTypeOf<CloudflareD1>().toExtend<D1Database>()
  expectTypeOf<CloudflareD1>().toExtend<Parameters<typeof d1Storage>[0]>()
})

test('a binding of another kind does not compile', () => {
  expectTypeOf<CloudflareD1>().not.toExtend<ObjectNamespace>()
  expectTypeOf<DurableObjectNamespace>().not.toExtend<D1Database>()
})

test('the class has no property of the brand, which is for the compiler only', () => {
  expectTypeOf<InstanceType<typeof StorageObject>>().toEqualTypeOf<StorageObject>()
  const object = new StorageObject({ storage: undefined as never })
  expect('__DURABLE_OBJECT_BRAND' in object).toBe(false)
})
