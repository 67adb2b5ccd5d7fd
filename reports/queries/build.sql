select * from meta.build
