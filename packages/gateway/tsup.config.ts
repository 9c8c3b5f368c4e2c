import { library } from '../testing/tools/build/library.ts'

export default library({
  entry: {
    index: 'src/index.ts',
    'in-process/index': 'src/in-process/index.ts',
  },
})
