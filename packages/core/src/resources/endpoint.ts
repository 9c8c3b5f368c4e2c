import type { ErrorCode } from '@signalbox/dialects/errors'
import type { Fields, InputSpec } from './fields.ts'
import type { Scope } from './scopes.ts'

// A method of a resource is described once, by an endpoint. The check of its arguments, the resource that loads it on first use, its route,
// its part of the OpenAPI document and the method of the client are derived from it.

/** The arguments of a method: an id, then its input or its options. */
interface CallFacts {
  readonly id?: true
  readonly input?: InputSpec
  /** Options, all of which may be left out. Over HTTP they are the query, or the body if there is a `body`. */
  readonly options?: Fields
  /**
   * Set for a list, in process and over HTTP: the name and description of the schema of its pages. Its options include `after` and `limit`. `anyId`: an id
   * may be one that an application chose.
   */
  readonly page?: { readonly name: string; readonly description?: string; readonly anyId?: true }
}

/** How a method is called over HTTP. */
interface HttpFacts {
  /** The method, and the path below that of the workspace. */
  readonly route: readonly [method: 'GET' | 'POST' | 'PATCH' | 'DELETE', path: string]
  /** A key needs any one of these. */
  readonly scopes: readonly Scope[]
  readonly summary: string
  /** Name of the schema of its body, if it has one. */
  readonly body?: string
  /** Name of the schema of its reply, or of the entries of a list. */
  readonly reply: string
  /** Errors in addition to those that follow from its other facts. */
  readonly errors?: readonly ErrorCode[]
  /** Set if the reply contains a secret, which is shown once. */
  readonly secret?: true
  /** Set if the reply is an acknowledgement: its message, and the one while other processes may not have applied the change. */
  readonly done?: { readonly message: string; readonly pending?: string; readonly isImmediate?: true }
}

/** A method that can be called over HTTP. */
export type RoutedEndpoint = CallFacts & HttpFacts

/** A method of a resource of workspaces. Without a route it can only be called in process. */
export type Endpoint = RoutedEndpoint | (CallFacts & { readonly route?: undefined })

/** The methods of a resource by name. */
export type Endpoints = Readonly<Record<string, Endpoint>>

const pageFields = { after: { kind: 'string' }, limit: { kind: 'integer', min: 1 } } as const

/** The options of a method. Those of a list include `after`, the id of the last entry of the previous page, and `limit`. */
export const optionsOf = ({ options, page }: Endpoint): Fields | undefined => (page ? { ...pageFields, ...options } : options)
