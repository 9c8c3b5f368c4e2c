import { methods } from './generated/methods.ts'
import type { Client } from './generated/types.ts'
import { baseOf, type CallOptions, type ClientOptions } from './options.ts'
import { asPagedList, type Page } from './pages.ts'
import { type Call, type ClientState, jsonOf, send } from './send.ts'

/**
 * A client of the management API, with the methods that `gateway.workspaces(id)` has in process, for one workspace. Bodies and replies
 * are the JSON of the API, in its spelling. A method takes the ids of its path first, then its body or query, then `CallOptions`.
 * Turning the spelling into that of the in-process API would take the field tables of all resources, 20 kB in each page. Nothing is sent
 * twice: a repeated POST without an `Idempotency-Key` would create twice.
 *
 * @throws {TypeError} An option has a value that it does not take.
 * @example
 * const client = createClient({ baseURL: 'https://gateway.example', apiKey: process.env.GATEWAY_KEY })
 * const { api_key } = await client.apiKeys.create({ name: 'backend', scopes: ['inference:invoke'] })
 */
export function createClient(options: ClientOptions): Client {
  const state: ClientState = { options, base: baseOf(options), workspace: options.workspace }
  const client: Methods = {}
  for (const line of methods.split('\n')) {
    const [name = '', ...facts] = line.split(' ')
    const names = name.split('.')
    const last = names.pop() ?? ''
    let group = client
    for (const each of names) {
      group[each] ??= {}
      group = group[each] as Methods
    }
    group[last] = methodOf(state, name, facts)
  }
  return client as unknown as Client
}

interface Methods {
  [name: string]: Methods | Method
}

type Method = (...args: readonly unknown[]) => Promise<unknown>

/** `verb`, `template` and `takes` are those of a line of `methods`. */
function methodOf(state: ClientState, name: string, [verb = '', template = '', takes]: readonly string[]): Method {
  const idCount = template.match(/[:*]/g)?.length ?? 0
  return (...args) => {
    const input = takes === undefined ? undefined : args[idCount]
    const call: Call = {
      name,
      method: verb === 'LIST' || verb === 'FILE' ? 'GET' : verb,
      template,
      ids: args.slice(0, idCount),
      ...(takes !== undefined && { [takes]: input }),
      options: args[takes === undefined ? idCount : idCount + 1] as CallOptions | undefined,
    }
    if (verb === 'FILE') return send(state, call)
    const load = (one: Call): Promise<Page> => jsonOf(state, one)
    return verb === 'LIST' ? asPagedList(load(call), after => load({ ...call, query: { ...call.query, after } })) : load(call)
  }
}
