import { describeCatalogue } from './catalogue.ts'

// Rows 5 to 84 of the fault catalogue over real sockets; what takes long or a connection of its own stands in other files.

describeCatalogue(['responses', 'chat'], ({ needs, hangs }) => needs === undefined && !hangs)
