import { library } from '../testing/tools/build/library.ts'

export default library({
  // Two small functions: to find the packages that hold them takes Node longer than to read the facts.
  noExternal: ['@signalbox/storage/similar-names', 'leven'],
  entry: { index: 'src/index.ts', 'schema/index': 'src/schema/index.ts', 'update/index': 'src/update/index.ts' },
})
