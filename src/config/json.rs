//! Parses JSON and rejects duplicate names in an object: of two providers with the same name, one
//! would silently be lost, and at the next change for good.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};

/// Errors name the line and column.
pub fn parse(text: &str) -> serde_json::Result<Value> {
    let mut from = serde_json::Deserializer::from_str(text);
    let value = Unique.deserialize(&mut from)?;
    from.end()?;
    Ok(value)
}

#[derive(Clone, Copy)]
struct Unique;

impl<'de> DeserializeSeed<'de> for Unique {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<Value, D::Error> {
        from.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Unique {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element_seed(self)? {
            list.push(item);
        }
        Ok(list.into())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Value, A::Error> {
        let mut map = Map::new();
        while let Some(name) = fields.next_key::<String>()? {
            if map.contains_key(&name) {
                return Err(A::Error::custom(format!("{name:?} appears twice")));
            }
            let value = fields.next_value_seed(self)?;
            map.insert(name, value);
        }
        Ok(map.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_whole_is_read_as_ever() {
        for text in [
            r#"{"a":[1,-2,2.5,true,null,"ü\n"],"b":{"a":{}}}"#,
            r#"{"z":1,"a":18446744073709551615}"#,
            "[]",
            "{}",
        ] {
            assert_eq!(
                parse(text).unwrap().to_string(),
                serde_json::from_str::<Value>(text).unwrap().to_string()
            );
        }
        for text in ["", "{", "{} {}", "nope"] {
            assert!(parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_name_that_stands_there_twice_is_an_error() {
        let error = parse("{\n \"providers\": {\"a\": {}, \"b\": {},\n  \"a\": {}}}").unwrap_err();
        let error = error.to_string();
        assert!(error.contains("\"a\" appears twice at line 3"), "{error}");
    }
}
