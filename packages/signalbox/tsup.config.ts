import { readFileSync } from 'node:fs'
import { library } from '../testing/tools/build/library.ts'

const { exports } = JSON.parse(readFileSync(new URL('package.json', import.meta.url), 'utf8')) as {
  readonly exports: Readonly<Record<string, { readonly 'signalbox-source': string } | string>>
}

export default library({
  entry: ['src/bin.ts', ...Object.values(exports).flatMap(entry => (typeof entry === 'string' ? [] : entry['signalbox-source']))],
  platform: 'node',
})
