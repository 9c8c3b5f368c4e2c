import { library } from '../testing/tools/build/library.ts'

export default library({
  entry: { index: 'src/index.ts', 'schema/index': 'src/schema/index.ts', 'update/index': 'src/update/index.ts' },
})
