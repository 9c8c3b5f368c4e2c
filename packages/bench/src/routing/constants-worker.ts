import { parentPort, workerData } from 'node:worker_threads'
import { type Extent, measureIn } from './measure-constants.ts'
import { type Constants, loadRouter } from './tunable-router.ts'

// Measures the routers named in its messages, one after another.

const { code, extent }: { readonly code: string; readonly extent: Extent } = workerData
const measure = measureIn(extent)

parentPort?.on('message', (changed: Constants) => {
  parentPort?.postMessage(measure(loadRouter(code, changed).policy))
})
