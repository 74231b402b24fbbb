"""The data of the published pages: pure figures in, files of JSON out."""
