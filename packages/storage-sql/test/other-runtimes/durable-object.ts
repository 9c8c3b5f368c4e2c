import { describeStorage } from '@signalbox/testing/storage'
import { type DurableObjectStorage, durableObjectStorage } from '../../src/durable-object.ts'
import { runTests } from './vitest.ts'

// Runs in workerd: the conformance suite within one object, whose database is emptied before each test.

interface ObjectState {
  readonly storage: DurableObjectStorage & { deleteAll(): Promise<void> }
}

export class Conformance {
  readonly state: ObjectState
  constructor(state: ObjectState) {
    this.state = state
  }

  async fetch(request: Request): Promise<Response> {
    const { storage } = this.state
    const make = async () => {
      await storage.deleteAll()
      return { storage: durableObjectStorage(storage), reopen: async () => durableObjectStorage(storage) }
    }
    describeStorage('durable object', make, { share: Number(new URL(request.url).searchParams.get('share')), lacks: ['spool'] })
    return Response.json(await runTests())
  }
}

interface Bindings {
  readonly OBJECTS: { idFromName(name: string): unknown; get(id: unknown): { fetch(request: Request): Promise<Response> } }
}

// biome-ignore lint/style/noDefaultExport: Workers ask for it.
export default {
  fetch: (request: Request, { OBJECTS }: Bindings): Promise<Response> => OBJECTS.get(OBJECTS.idFromName('one')).fetch(request),
}
